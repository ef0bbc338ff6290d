"""Find OpenCL devices."""

from __future__ import annotations

from typing import Any

from clmap_lsp.opencl_device.errors import DeviceMissingError
from clmap_lsp.opencl_device.facts import DeviceFacts, DeviceKind

_INSTALL = "install the extra with: pip install 'clmap-lsp[device]'"
_DRIVER = "install a driver with an OpenCL ICD (on a CPU: PoCL, package pocl-opencl-icd)"


def load_pyopencl() -> Any:
    """Return the pyopencl module.

    Raises: DeviceMissingError if it is not installed or does not load.
    """
    try:
        import pyopencl
    except ImportError as error:
        raise DeviceMissingError(
            f"no OpenCL device: pyopencl is not available ({error}); {_INSTALL}"
        ) from error
    return pyopencl


def raw_devices() -> list[tuple[Any, DeviceFacts]]:
    """Return every device with pyopencl's object for it, in the order of platforms and devices.

    Raises: DeviceMissingError if pyopencl, an ICD loader or any platform is missing.
    """
    cl = load_pyopencl()
    try:
        platforms = cl.get_platforms()
    except cl.Error as error:  # PLATFORM_NOT_FOUND_KHR without any ICD.
        raise DeviceMissingError(f"no OpenCL device: no OpenCL platform ({error}); {_DRIVER}") from error
    found: list[tuple[Any, DeviceFacts]] = []
    for platform in platforms:
        try:
            devices = platform.get_devices()
        except (
            cl.Error
        ):  # A platform without a usable device (DEVICE_NOT_FOUND) is not an error of the others.
            continue
        for device in devices:
            found.append((device, _describe(cl, platform, device, len(found))))
    if not found:
        raise DeviceMissingError(f"no OpenCL device: no platform has a device; {_DRIVER}")
    return found


def list_devices() -> tuple[DeviceFacts, ...]:
    """Return what each device's driver says of it.

    Raises: DeviceMissingError as in `raw_devices`.
    """
    return tuple(facts for _, facts in raw_devices())


def choose_device(selector: str | None) -> tuple[Any, DeviceFacts]:
    """Return the device that `selector` names: its number, or a part of its or its platform's name or version
    (PoCL calls its platform "Portable Computing Language" and says PoCL in the version).

    None takes the first GPU, else the first device.
    Raises: DeviceMissingError naming what is there.
    """
    devices = raw_devices()
    if selector is None:
        return next((it for it in devices if it[1].kind is DeviceKind.GPU), devices[0])
    if selector.isdecimal() and int(selector) < len(devices):
        return devices[int(selector)]
    wanted = selector.casefold()
    for device, facts in devices:
        if any(wanted in it.casefold() for it in (facts.name, facts.platform, facts.platform_version)):
            return device, facts
    there = "; ".join(f"{facts.index}: {facts.name} ({facts.platform})" for _, facts in devices)
    raise DeviceMissingError(f"no OpenCL device matches {selector!r}; there is {there}")


def _describe(cl: Any, platform: Any, device: Any, index: int) -> DeviceFacts:
    kind = DeviceKind.ACCELERATOR
    if device.type & cl.device_type.GPU:
        kind = DeviceKind.GPU
    elif device.type & cl.device_type.CPU:
        kind = DeviceKind.CPU
    return DeviceFacts(
        index=index,
        name=device.name.strip(),
        vendor=device.vendor.strip(),
        kind=kind,
        platform=platform.name.strip(),
        platform_version=platform.version.strip(),
        driver=device.driver_version.strip(),
        device_version=device.version.strip(),
        compute_units=device.max_compute_units,
        clock_mhz=device.max_clock_frequency,
        max_work_group=device.max_work_group_size,
        max_work_item_sizes=tuple(device.max_work_item_sizes),
        global_bytes=device.global_mem_size,
        max_alloc_bytes=device.max_mem_alloc_size,
        cache_bytes=device.global_mem_cache_size,
        cache_line_bytes=device.global_mem_cacheline_size,
        local_bytes=device.local_mem_size,
        local_dedicated=device.local_mem_type == cl.device_local_mem_type.LOCAL,
        fp64=bool(device.double_fp_config),
        timer_resolution_ns=device.profiling_timer_resolution,
        compute_capability=_compute_capability(cl, device),
    )


def _compute_capability(cl: Any, device: Any) -> str:
    """Return NVIDIA's, from cl_nv_device_attribute_query; empty elsewhere."""
    if "cl_nv_device_attribute_query" not in device.extensions:
        return ""
    try:
        return f"{device.compute_capability_major_nv}.{device.compute_capability_minor_nv}"
    except (cl.Error, AttributeError):
        return ""
