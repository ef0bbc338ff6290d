"""Reports: one file an output format, pure functions from findings to text."""
