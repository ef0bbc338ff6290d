-- Starts the server in every Neovim from 0.7 on, and the commands that go with it.
local M = {}

local defaults = { cmd = { 'clmap-lsp', '--stdio' }, settings = {} }
local config = defaults
local old_client

local function clients()
  local get = vim.lsp.get_clients or vim.lsp.get_active_clients
  return vim.tbl_filter(function(client) return client.name == 'clmap' end, get())
end

local function root(file)
  local find = vim.fs and vim.fs.find
  if find then
    local found = find({ 'clmap.toml', '.git' }, { upward = true, path = vim.fn.fnamemodify(file, ':h') })[1]
    if found then
      return vim.fn.fnamemodify(found, ':h')
    end
  end
  return vim.fn.fnamemodify(file, ':p:h')
end

local function attach(buffer)
  local file = vim.api.nvim_buf_get_name(buffer)
  local client = { name = 'clmap', cmd = config.cmd, root_dir = root(file), settings = { clmap = config.settings } }
  if vim.lsp.start then -- 0.8 to 0.10
    vim.lsp.start(client, { bufnr = buffer })
    return
  end
  old_client = old_client or vim.lsp.start_client(client) -- 0.7
  vim.lsp.buf_attach_client(buffer, old_client)
end

--- The cursor as the server counts: in the units that both agreed on, not in bytes.
local function cursor()
  local client = clients()[1]
  return vim.lsp.util.make_position_params(0, client and client.offset_encoding or 'utf-16').position
end

--- Runs a command of the server. What it returns is shown where `show` is set; the others say it by themselves.
local function command(name, position, show)
  local arguments = { vim.uri_from_bufnr(0) }
  if position then
    arguments[2] = cursor()
  end
  vim.lsp.buf_request(0, 'workspace/executeCommand', { command = name, arguments = arguments }, function(err, result)
    if err then
      vim.notify(err.message, vim.log.levels.ERROR)
    elseif show and type(result) == 'string' then
      vim.lsp.util.open_floating_preview(vim.split(result, '\n'), 'markdown')
    end
  end)
end

--- The program that is started.
function M.program() return config.cmd[1] end

--- setup{ cmd = {...}, settings = {...} }
function M.setup(options)
  config = vim.tbl_deep_extend('force', defaults, options or {})
  if vim.lsp.config then
    vim.lsp.config('clmap', { cmd = config.cmd, settings = { clmap = config.settings } })
    vim.lsp.enable('clmap')
  end
end

--- Shows lenses, and findings behind their lines, which Neovim hides unless it is told to; once for each buffer.
--- `vim.g.clmap_quiet = 1` leaves both to the user.
function M.show(buffer, client)
  if vim.g.clmap_quiet then
    return
  end
  for _, pulled in ipairs({ false, true }) do
    local ok, namespace = pcall(vim.lsp.diagnostic.get_namespace, client.id, pulled)
    if ok then
      -- Hints, as on text that conditions leave out, would stand behind half of the lines.
      local least = { min = vim.diagnostic.severity.INFO }
      vim.diagnostic.config({
        virtual_text = { severity = least },
        signs = { severity = least },
        severity_sort = true,
      }, namespace)
    end
  end
  if not vim.lsp.codelens then
    return
  end
  local refresh = function()
    if vim.api.nvim_buf_is_valid(buffer) then
      pcall(vim.lsp.codelens.refresh, { bufnr = buffer })
    end
  end
  local group = vim.api.nvim_create_augroup('clmap_lenses_' .. buffer, { clear = true })
  local events = { 'BufEnter', 'InsertLeave', 'TextChanged', 'CursorHold' }
  vim.api.nvim_create_autocmd(events, { group = group, buffer = buffer, callback = refresh })
  refresh()
end

--- Called for every OpenCL buffer by plugin/clmap.lua where Neovim has no vim.lsp.config.
function M.attach()
  attach(vim.api.nvim_get_current_buf())
end

M.emulate = function() command('clmap.emulate', true) end
M.optimise = function() command('clmap.optimise', true) end
M.measure = function() command('clmap.measure', true) end
M.pin = function() command('clmap.pin', true) end

--- Shows the machine code of the kernel at the cursor beside its source.
function M.compiled()
  local source = vim.api.nvim_get_current_buf()
  local params = { textDocument = { uri = vim.uri_from_bufnr(source) }, position = cursor() }
  vim.lsp.buf_request(source, 'clmap/asCompiled', params, function(err, view)
    if err then
      vim.notify(err.message, vim.log.levels.ERROR)
    elseif type(view) ~= 'table' then
      vim.notify('clmap: put the cursor in a kernel')
    elseif type(view.why) == 'string' then
      vim.notify(('clmap: %s is not compiled: %s'):format(view.name, view.why))
    else
      require('clmap.compiled').show(source, view)
    end
  end)
end

M.workspace = function() command('clmap.showWorkspaceFindings', false) end
M.debug = function() command('clmap.debug', false, true) end

function M.explain(code)
  vim.lsp.buf_request(0, 'workspace/executeCommand', { command = 'clmap.explain', arguments = { code } },
    function(err, result)
      local text = err and err.message or result or ('There is no rule ' .. code)
      vim.lsp.util.open_floating_preview(vim.split(text, '\n'), 'markdown')
    end)
end

function M.restart()
  for _, client in ipairs(clients()) do
    client.stop()
  end
  old_client = nil
  vim.defer_fn(function() vim.cmd('edit') end, 500)
end

return M
