"""What an editor asks of OpenCL C text: declarations, uses, types, macros and includes, with their places.

`reading.read_index` makes an `Index` of one file with what it includes. It is read by a parser of its own,
which goes through a translation unit as a compiler does, in one pass with a table of names: so what is wrong
is said where a compiler would say it, in its words, and text that is half typed still has an index. What an
edit left alone is taken from the index before. Nothing here knows an editor.
"""
