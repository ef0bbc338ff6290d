-- A kernel's machine code beside its source: the lines of one that belong to the other's cursor are marked.
local M = {}

local namespace = vim.api.nvim_create_namespace('clmap_compiled')

local function mark(buffer, lines)
  if not vim.api.nvim_buf_is_valid(buffer) then
    return
  end
  vim.api.nvim_buf_clear_namespace(buffer, namespace, 0, -1)
  for _, line in ipairs(lines) do
    vim.api.nvim_buf_add_highlight(buffer, namespace, 'Visual', line, 0, -1)
  end
end

local function reveal(buffer, line)
  local window = vim.fn.bufwinid(buffer)
  if window ~= -1 and line < vim.api.nvim_buf_line_count(buffer) then
    vim.api.nvim_win_set_cursor(window, { line + 1, 0 })
  end
end

--- Marks what belongs to the line of the cursor, as long as the source is the text that was compiled.
local function follow(source, code, view, tick)
  local here = vim.api.nvim_get_current_buf()
  local line = vim.api.nvim_win_get_cursor(0)[1] - 1
  if vim.api.nvim_buf_get_changedtick(source) ~= tick then
    mark(source, {})
    mark(code, {})
  elseif here == source then
    local found = {}
    for at, row in ipairs(view.rows) do
      if row == line then
        found[#found + 1] = at - 1
      end
    end
    mark(source, {})
    mark(code, found)
    if found[1] then
      reveal(code, found[#found])
    end
  else
    local row = view.rows[line + 1]
    mark(code, {})
    mark(source, type(row) == 'number' and { row } or {})
    if type(row) == 'number' then
      reveal(source, row)
    end
  end
end

--- Shows what the server answered to clmap/asCompiled for a buffer.
function M.show(source, view)
  local name = 'clmap-compiled://' .. view.name
  local code = vim.fn.bufnr('^' .. vim.fn.fnameescape(name) .. '$')
  if code == -1 then
    code = vim.api.nvim_create_buf(false, true)
    vim.api.nvim_buf_set_name(code, name)
  end
  vim.api.nvim_buf_set_option(code, 'modifiable', true)
  vim.api.nvim_buf_set_lines(code, 0, -1, false, view.lines)
  vim.api.nvim_buf_set_option(code, 'modifiable', false)
  vim.api.nvim_buf_set_option(code, 'filetype', 'asm')
  if vim.fn.bufwinid(code) == -1 then
    local window = vim.api.nvim_get_current_win()
    vim.cmd('rightbelow vertical sbuffer ' .. code)
    vim.api.nvim_set_current_win(window)
  end
  M.follows = M.follows or {}
  local tick = vim.api.nvim_buf_get_changedtick(source)
  for _, buffer in ipairs({ source, code }) do
    M.follows[buffer] = function() follow(source, code, view, tick) end
    vim.cmd(('augroup clmap_compiled_%d | autocmd! * <buffer=%d>'):format(buffer, buffer))
    vim.cmd(('autocmd CursorMoved <buffer=%d> lua require("clmap.compiled").follows[%d]()'):format(buffer, buffer))
    vim.cmd('augroup END')
  end
  follow(source, code, view, tick)
end

return M
