"""Speed and coverage figures: run by hand, with `python -m benchmarks.NAME`."""
