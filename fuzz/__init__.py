"""Fuzzing: `python -m fuzz --driver NAME --minutes M`.

`targets` says what is fuzzed and what counts as a fault, `mutate` makes inputs out of `corpus`, `runner` runs
them in a process of its own, so that a crash of native code is found like any other fault.
"""
