"""What can go wrong with a device, in one line each: what happened, and what to do."""

from __future__ import annotations


class DeviceError(Exception):
    """Any failure of the driver or the device. The message is one line, made for a person."""


class DeviceMissingError(DeviceError):
    """No pyopencl, no platform, no device, or none that was asked for."""


class DeviceLostError(DeviceError):
    """The device or its driver stopped answering in mid-run; nothing more can be asked of this session."""


class BuildError(DeviceError):
    """The driver's compiler refused the source. `log` is what it said."""

    def __init__(self, message: str, log: str) -> None:
        super().__init__(message)
        self.log = log


class LaunchError(DeviceError):
    """The driver refused one launch or allocation (sizes, memory); the session is still good."""
