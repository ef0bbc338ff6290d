-- Neovim 0.11: vim.lsp.enable('clmap') finds this file on the runtime path.
return {
  cmd = { 'clmap-lsp', '--stdio' },
  filetypes = { 'opencl' },
  root_markers = { 'clmap.toml', '.git' },
  settings = { clmap = {} },
}
