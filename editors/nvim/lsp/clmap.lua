---@brief
---
--- https://clmap-lsp.readthedocs.io/
---
--- Language server for OpenCL C: what each array access costs on a GPU, faults that the emulator finds, verified
--- rewrites, and the language itself. Install it with `pip install 'clmap-lsp[emulate]'`.

-- Neovim 0.11: vim.lsp.enable('clmap') finds this file on the runtime path.
---@type vim.lsp.Config
return {
  cmd = { 'clmap-lsp', '--stdio' },
  filetypes = { 'opencl' },
  root_markers = { 'clmap.toml', '.git' },
  settings = { clmap = {} },
}
