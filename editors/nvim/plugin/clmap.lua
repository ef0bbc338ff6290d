if vim.g.loaded_clmap then
  return
end
vim.g.loaded_clmap = 1

if vim.lsp.config then -- 0.11: lsp/clmap.lua holds the rest.
  vim.lsp.enable('clmap')
else
  vim.cmd([[
    augroup clmap
      autocmd!
      autocmd FileType opencl lua require('clmap').attach()
    augroup END
  ]])
end

vim.cmd([[
  command! ClmapEmulate lua require('clmap').emulate()
  command! ClmapMeasure lua require('clmap').measure()
  command! ClmapPin lua require('clmap').pin()
  command! ClmapDebug lua require('clmap').debug()
  command! ClmapRestart lua require('clmap').restart()
  command! -nargs=1 ClmapExplain lua require('clmap').explain(<q-args>)
]])
