-- Neovim 0.11: the files in editors/nvim as they are, driven as a user drives them.
package.path = vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':h') .. '/?.lua;' .. package.path
local t = require('harness')

t.finish(function()
  vim.lsp.config('clmap', {
    cmd = { vim.env.CLMAP_PYTHON, '-m', 'clmap_lsp', '--stdio' },
    settings = { clmap = { device = 'nvidia-hopper', emulate = 'off' } },
  })
  vim.cmd('runtime! ftdetect/opencl.lua plugin/clmap.lua')
  t.filetypes()

  vim.cmd('edit ' .. vim.env.CLMAP_WORKSPACE .. '/k.cl')
  local buffer = vim.api.nvim_get_current_buf()
  local client
  t.check('the server is attached', t.wait(function()
    client = vim.lsp.get_clients({ bufnr = buffer, name = 'clmap' })[1]
    return client ~= nil and client.initialized
  end))
  t.check('findings show', t.wait(function() return t.codes(buffer).CM104 ~= nil end))
  local finding = t.codes(buffer).CM104
  t.check('on the kernel name', finding.lnum == 1 and finding.col == 14, vim.inspect(finding))

  vim.api.nvim_win_set_cursor(0, { 8, 30 })
  local params = vim.lsp.util.make_position_params(0, client.offset_encoding)
  local hover = client:request_sync('textDocument/hover', params, 10000, buffer)
  t.check('hover', hover and hover.result and hover.result.contents.value:find('sectors a request', 1, true) ~= nil)
  vim.lsp.buf.hover()
  t.check('the hover opens a float', t.wait(function()
    for _, window in ipairs(vim.api.nvim_list_wins()) do
      if vim.api.nvim_win_get_config(window).relative ~= '' then return true end
    end
  end))

  vim.api.nvim_win_set_cursor(0, { 2, 14 })
  vim.lsp.buf.code_action({
    context = { only = { 'quickfix' } },
    apply = true,
    filter = function(action) return action.title:find('ignore CM104 here', 1, true) ~= nil end,
  })
  t.check('a code action is applied', t.wait(function()
    return vim.api.nvim_buf_get_lines(buffer, 1, 2, false)[1]:find('clmap: ignore[CM104]', 1, true) ~= nil
  end))
  t.check('and the finding goes', t.wait(function() return t.codes(buffer).CM104 == nil end))
  t.check('commands exist', vim.fn.exists(':ClmapEmulate') == 2 and vim.fn.exists(':ClmapExplain') == 2
    and vim.fn.exists(':ClmapMeasure') == 2)
  require('language')(client)
  client:stop()
  t.check('the server stops', t.wait(function() return client:is_stopped() end))
end)
