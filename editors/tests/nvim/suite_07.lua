-- Neovim 0.7: the same, with the calls of that time.
package.path = vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':h') .. '/?.lua;' .. package.path
local t = require('harness')

t.finish(function()
  require('clmap').setup({
    cmd = { vim.env.CLMAP_PYTHON, '-m', 'clmap_lsp', '--stdio' },
    settings = { device = 'nvidia-hopper', emulate = 'off' },
  })
  vim.cmd('runtime! ftdetect/opencl.lua plugin/clmap.lua')
  t.filetypes()

  vim.cmd('edit ' .. vim.env.CLMAP_WORKSPACE .. '/k.cl')
  local buffer = vim.api.nvim_get_current_buf()
  local client
  t.check('the server is attached', t.wait(function()
    for _, it in pairs(vim.lsp.buf_get_clients(buffer)) do
      client = it
    end
    return client ~= nil and client.initialized == true
  end))
  t.check('findings show', t.wait(function() return t.codes(buffer).CM104 ~= nil end))

  vim.api.nvim_win_set_cursor(0, { 8, 30 })
  local params = vim.lsp.util.make_position_params(0, client.offset_encoding)
  local answers = vim.lsp.buf_request_sync(buffer, 'textDocument/hover', params, 10000)
  local hover = answers and answers[client.id] and answers[client.id].result
  t.check('hover', hover and hover.contents.value:find('sectors a request', 1, true) ~= nil, vim.inspect(hover))

  vim.api.nvim_win_set_cursor(0, { 2, 14 })
  local range = vim.lsp.util.make_range_params(0, client.offset_encoding)
  range.context = { diagnostics = vim.lsp.diagnostic.get_line_diagnostics(buffer, 1), only = { 'quickfix' } }
  answers = vim.lsp.buf_request_sync(buffer, 'textDocument/codeAction', range, 10000)
  local ignore
  for _, action in ipairs(answers and answers[client.id] and answers[client.id].result or {}) do
    if action.title:find('ignore CM104 here', 1, true) then
      ignore = action
    end
  end
  if t.check('a code action is offered', ignore ~= nil) then
    vim.lsp.util.apply_workspace_edit(ignore.edit, client.offset_encoding)
    t.check('and applied', vim.api.nvim_buf_get_lines(buffer, 1, 2, false)[1]:find('clmap: ignore[CM104]', 1, true) ~= nil)
    t.check('and the finding goes', t.wait(function() return t.codes(buffer).CM104 == nil end))
  end
  client.stop()
  t.check('the server stops', t.wait(function() return client.is_stopped() end))
end)
