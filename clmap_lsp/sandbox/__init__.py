"""What a process that meets a stranger's kernel gives up: system calls, files, memory.

`confined.py` is the door. Nothing here knows what the process is for.
"""
