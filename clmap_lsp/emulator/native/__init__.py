"""A small compiler from a typed subset of Python to machine code, for the emulator's run-time library."""
