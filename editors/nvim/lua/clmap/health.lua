-- :checkhealth clmap
local M = {}

local health = vim.health or require('health') -- 0.7
local start = health.start or health.report_start
local ok = health.ok or health.report_ok
local warn = health.warn or health.report_warn
local fail = health.error or health.report_error

local function output(command)
  local text = vim.fn.system(command)
  return vim.v.shell_error == 0 and vim.trim(text) or nil
end

function M.check()
  start('clmap-lsp')
  local program = require('clmap').program()
  if vim.fn.executable(program) == 0 then
    local cure = { "uv tool install 'clmap-lsp[emulate]', or name the program: require('clmap').setup({ cmd = … })" }
    fail(program .. ' is no program that can be found', cure)
  else
    local version = output({ program, '--version' })
    if version then
      ok(version .. ' at ' .. vim.fn.exepath(program))
    else
      fail(program .. ' does not start', { 'run ' .. program .. ' --version in a terminal to see why' })
    end
  end
  local get = vim.lsp.get_clients or vim.lsp.get_active_clients
  local running = vim.tbl_filter(function(client) return client.name == 'clmap' end, get())
  if #running > 0 then
    ok(#running .. ' running, folder ' .. tostring(running[1].config.root_dir or 'none'))
  else
    warn('not running', { 'open a .cl file; :set filetype? must say opencl' })
  end
  if vim.g.clmap_quiet then
    ok('lenses and findings behind lines are left to your own settings (g:clmap_quiet)')
  end
end

return M
