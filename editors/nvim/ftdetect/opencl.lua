-- Vim and Neovim take a *.cl file for Lisp unless its first lines hold a C comment, which misreads most
-- OpenCL files. A file is Lisp here only if it reads like Lisp.
local detect = require('clmap.detect')

if vim.filetype and vim.filetype.add then
  vim.filetype.add({
    extension = {
      ocl = 'opencl',
      clh = 'opencl',
      cl = function(_, buffer)
        return detect.filetype(vim.api.nvim_buf_get_lines(buffer, 0, 200, false))
      end,
    },
  })
end

-- Neovim before 0.8 runs its own Lisp rule after vim.filetype: decide again when it has.
vim.cmd([[
  augroup clmap_ftdetect
    autocmd!
    autocmd BufRead,BufNewFile *.cl lua require('clmap.detect').correct()
    autocmd BufRead,BufNewFile *.ocl,*.clh setlocal filetype=opencl
  augroup END
]])
