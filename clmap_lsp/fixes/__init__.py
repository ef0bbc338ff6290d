"""Rewrites of a kernel, and the proof that they change its cost and not its results.

`kinds/` has one file for each kind of rewrite; `offer.py` is the front door; `verification.py` runs both
versions in the emulator.
"""
