-- What the suites share: named checks, and an end with an exit code.
local M = { failed = 0 }

function M.check(name, ok, extra)
  io.stdout:write(('  %s %s%s\n'):format(ok and 'ok  ' or 'FAIL', name, (not ok and extra) and (': ' .. tostring(extra)) or ''))
  if not ok then
    M.failed = M.failed + 1
  end
  return ok
end

function M.wait(what)
  return vim.wait(30000, what, 50) == true
end

function M.samples()
  local found = {}
  for pair in vim.env.CLMAP_SAMPLES:gmatch('[^;]+') do
    local name, kind = pair:match('^(.-)=(.*)$')
    table.insert(found, { name = name, kind = kind })
  end
  return found
end

function M.filetypes()
  for _, sample in ipairs(M.samples()) do
    vim.cmd('silent edit! ' .. vim.fn.fnameescape(vim.env.CLMAP_WORKSPACE .. '/' .. sample.name))
    M.check('filetype of ' .. sample.name, vim.bo.filetype == sample.kind, vim.bo.filetype)
  end
end

function M.codes(buffer)
  local found = {}
  for _, it in ipairs(vim.diagnostic.get(buffer)) do
    local lsp = it.user_data and it.user_data.lsp
    found[it.code or (lsp and lsp.code)] = it
  end
  return found
end

function M.finish(body)
  local ok, problem = xpcall(body, debug.traceback)
  if not ok then
    M.check('no Lua error', false, problem)
  end
  vim.cmd(M.failed > 0 and 'cquit 1' or 'qall!')
end

return M
