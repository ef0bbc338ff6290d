"""Host code read for what it launches: sizes, arguments and build options, and where each value comes from.

`launches.launches_of` is the door; nothing of it is loaded before somebody reads host code. Host files in C,
C++ and Python become one small tree (`tree`), which an abstract interpreter (`interpreter`) runs from `main`,
or from whatever nothing else calls. A value is known for every run, or an expression with the value that the
program takes unless told otherwise (`values`).
"""
