"""The process that emulates and measures, so that no kernel ever runs in the server.

`pool.WorkerPool` is the front door; `child` is what runs in the process; `tasks` is what it can do.
"""
