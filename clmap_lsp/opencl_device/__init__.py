"""OpenCL devices: find, describe, run, time.

The only room that imports pyopencl, and only inside functions: everything else works without it. Whatever
goes wrong with a driver leaves here as one of the errors of `errors`.
"""

from clmap_lsp.opencl_device.errors import (
    BuildError,
    DeviceError,
    DeviceLostError,
    DeviceMissingError,
    LaunchError,
)
from clmap_lsp.opencl_device.facts import DeviceFacts, DeviceKind

__all__ = [
    "BuildError",
    "DeviceError",
    "DeviceFacts",
    "DeviceKind",
    "DeviceLostError",
    "DeviceMissingError",
    "LaunchError",
]
