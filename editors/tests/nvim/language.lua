-- Language features in Neovim 0.11, by its own commands and keys.
local t = require('harness')

local TEXT = [[
#define AT(y, x) ((y) * n + (x))
float weigh(__local float *row, int n)
{
    return row[n & 3];
}
__kernel void blur(__global const float *in, __global float *out, int n)
{
    __local float tile[16];
    int x = get_global_id(0), y = get_global_id(1);
    tile[get_local_id(0) & 15] = in[AT(y, x)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[AT(y, x)] = weigh(tile, 1);
}
]]

return function(client)
  local path = vim.env.CLMAP_WORKSPACE .. '/tiles.cl'
  vim.fn.writefile(vim.split(TEXT, '\n'), path)
  vim.cmd('silent edit! ' .. path)
  local buffer = vim.api.nvim_get_current_buf()
  t.wait(function() return #vim.lsp.get_clients({ bufnr = buffer, name = 'clmap' }) > 0 end)
  local lines = function() return vim.api.nvim_buf_get_lines(buffer, 0, -1, false) end
  local function find(text)
    for row, line in ipairs(lines()) do
      local column = line:find(text, 1, true)
      if column then return row, column - 1 end
    end
  end
  local function go(text, inside)
    local row, column = find(text)
    vim.api.nvim_win_set_cursor(0, { row, column + (inside or 0) })
    return row
  end
  local function keys(typed)
    vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes(typed, true, false, true), 'xt', false)
  end

  go('weigh(tile')
  vim.lsp.buf.definition()
  t.check('definition', t.wait(function() return vim.api.nvim_win_get_cursor(0)[1] == 2 end))

  vim.lsp.buf.document_symbol()
  t.check('outline', t.wait(function()
    return #vim.tbl_filter(function(it) return it.text:find('blur', 1, true) end, vim.fn.getloclist(0)) > 0
  end), vim.inspect(vim.fn.getloclist(0)))
  vim.cmd('silent! lclose')

  local row = go('barrier')
  vim.api.nvim_buf_set_lines(buffer, row - 1, row - 1, false, { '    get_lo' })
  vim.api.nvim_win_set_cursor(0, { row, 9 })
  local found = client:request_sync('textDocument/completion', vim.lsp.util.make_position_params(0, client.offset_encoding), 10000, buffer)
  local labels = vim.tbl_map(function(it) return it.label end, found.result.items)
  t.check('completion', vim.list_contains(labels, 'get_local_id'), vim.inspect(labels))
  vim.lsp.completion.enable(true, client.id, buffer, { autotrigger = false })
  vim.api.nvim_win_set_cursor(0, { row, 9 })
  local seen
  vim.keymap.set('i', '<F8>', function()
    seen = t.wait(function() return vim.fn.pumvisible() == 1 end) and vim.fn.complete_info({ 'items' }).items or {}
    return ''
  end, { buffer = buffer, expr = false })
  keys('A<C-x><C-o><F8><Esc>')
  local words = table.concat(vim.tbl_map(function(it) return it.abbr end, seen or {}), ' ')
  t.check('the popup', words:find('get_local_id', 1, true) ~= nil, words)
  vim.api.nvim_buf_set_lines(buffer, row - 1, row, false, {})

  go('weigh(tile', 12)
  vim.lsp.buf.signature_help()
  t.check('signature help', t.wait(function()
    for _, window in ipairs(vim.api.nvim_list_wins()) do
      if vim.api.nvim_win_get_config(window).relative ~= '' then
        local shown = table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false), ' ')
        if shown:find('float weigh(__local float *row, int n)', 1, true) then
          vim.api.nvim_win_close(window, true)
          return true
        end
      end
    end
  end))

  go('tile[16]')
  vim.lsp.buf.rename('patch')
  t.check('rename', t.wait(function() return not find('tile') and find('weigh(patch, 1)') end), table.concat(lines(), '\n'))

  local function groups(text)
    local at, column = find(text)
    local found_at = vim.lsp.semantic_tokens.get_at_pos(buffer, at - 1, column) or {}
    local modifiers = {}
    for _, token in ipairs(found_at) do
      modifiers = vim.tbl_extend('force', modifiers, token.modifiers)
    end
    return modifiers
  end
  t.check('colours of global memory', t.wait(function() return groups('in[AT').global end))
  t.check('and of local memory', t.wait(function() return groups('patch[16]')['local'] end))

  row = go('out[AT')
  vim.api.nvim_buf_set_lines(buffer, row - 1, row, false, { '  out[ AT(y,x) ]=weigh( patch,1 ) ;' })
  vim.bo.expandtab, vim.bo.shiftwidth = true, 4
  vim.lsp.buf.format({ timeout_ms = 10000 })
  t.check('formatting', find('    out[AT(y, x)] = weigh(patch, 1);') ~= nil, table.concat(lines(), '\n'))

  row = go('barrier')
  vim.cmd('ClmapCompiled')
  local function compiled()
    for _, window in ipairs(vim.api.nvim_list_wins()) do
      local shown = vim.api.nvim_win_get_buf(window)
      if vim.api.nvim_buf_get_name(shown):find('clmap%-compiled://blur') then
        return shown
      end
    end
  end
  t.check('machine code beside the source', t.wait(compiled))
  local code = compiled()
  local text = code and table.concat(vim.api.nvim_buf_get_lines(code, 0, -1, false), '\n') or ''
  t.check('for the device', text:find('as compiled for nvptx sm_90', 1, true) and text:find('bar.sync', 1, true), text)
  local marks = vim.api.nvim_get_namespaces().clmap_compiled
  t.check('with the lines of the cursor marked', code and t.wait(function()
    vim.cmd('doautocmd CursorMoved')
    return #vim.api.nvim_buf_get_extmarks(code, marks, 0, -1, {}) > 0
  end))
  vim.cmd('only')
  vim.api.nvim_buf_set_lines(buffer, row - 1, row, false, { '    barrier(CLK_LOCAL_MEM_FENCE)' })
  t.check('errors in a compiler\'s words', t.wait(function()
    for _, it in ipairs(vim.diagnostic.get(buffer)) do
      if it.message:find("expected ';' after expression", 1, true) then return true end
    end
  end))
  vim.cmd('silent! edit!')
end
