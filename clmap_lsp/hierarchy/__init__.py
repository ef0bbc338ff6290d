"""Which memory an array should live in, which arrays vectorise together, and what the memory hierarchy holds.

Source: B. Jang et al., Exploiting Memory Access Patterns to Improve Memory Performance in Data-Parallel
Architectures, IEEE TPDS 22(1), 2011 ("the paper" in this room); the rules about private, local and global
memory follow the Hands-On OpenCL course.
"""
