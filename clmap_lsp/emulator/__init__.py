"""Runs kernels without a device: every access, every fault, exact metrics."""
