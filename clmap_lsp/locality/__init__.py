"""AIWC's locality metrics from the addresses that work-items touch.

These are the reference definitions, vectorised over rows; the engines may count faster and must agree.
"""
