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
  command! ClmapOptimise lua require('clmap').optimise()
  command! ClmapMeasure lua require('clmap').measure()
  command! ClmapWorkspace lua require('clmap').workspace()
  command! ClmapCompiled lua require('clmap').compiled()
  command! ClmapPin lua require('clmap').pin()
  command! ClmapDebug lua require('clmap').debug()
  command! ClmapRestart lua require('clmap').restart()
  command! -nargs=1 ClmapExplain lua require('clmap').explain(<q-args>)
]])

if vim.api.nvim_create_autocmd and vim.fn.exists('##LspAttach') == 1 then -- 0.8 and later
  vim.api.nvim_create_autocmd('LspAttach', {
    callback = function(event)
      local client = event.data and vim.lsp.get_client_by_id(event.data.client_id)
      if client and client.name == 'clmap' then
        require('clmap').show(event.buf, client)
      end
    end,
  })
end
