"""The stride sweep: how a device likes every power-of-two stride between contiguous chunks and grid strides.

After clmempatterns by E. Konstantinidis (github.com/ekondis/clmempatterns). Of an element's index, the loop
takes `index bits - grid bits` bits in the middle; the work-item's number takes those below (as many as the
stride exponent says) and those above. Exponent 0: each work-item walks a chunk. Exponent = grid bits: all
work-items together walk the array.
"""
