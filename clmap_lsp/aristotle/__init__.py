"""Aristotle: does staging an array through local memory pay here?

After J. Fang, H. Sips, A. L. Varbanescu, "Aristotle: A performance impact indicator for the OpenCL kernels
using local memory", Scientific Programming 22 (2014): 33 memory access patterns (MAPs), a microbenchmark with
and one without local memory for each, a database of what they reach on a platform, and rules to compose them.
"""
