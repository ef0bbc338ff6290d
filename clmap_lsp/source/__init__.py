"""Text in, `Program` out: preprocessing, parsing and lowering of OpenCL C.

The front door is `read_program` in `clmap_lsp.source.read`.
"""
