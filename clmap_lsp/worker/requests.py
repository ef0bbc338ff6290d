"""Tasks as plain data: made by the server, read by the child."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clmap_lsp.analysis.model import KernelAnalysis
    from clmap_lsp.config import Settings
    from clmap_lsp.launch.model import Launch
    from clmap_lsp.launch.partial import PartialLaunch
    from clmap_lsp.source.program import Program


def kernel_request(
    program: Program, kernel: KernelAnalysis, settings: Settings, key: str, time_limit_s: float
) -> dict[str, Any]:
    """Return the payload of an `emulate` or `fixes` task. Included files travel as the editor has them."""
    from clmap_lsp.launch.resolve import argument_text

    launch = kernel.launch
    assert launch is not None, "a kernel without a launch cannot run"
    return {
        "key": key,
        "path": program.path,
        "files": {path: it.text for path, it in program.files.items()},
        "options": asdict(settings.build),
        "kernel": kernel.name,
        "launch": {
            "global_size": list(launch.global_size),
            "local_size": list(launch.local_size),
            "global_offset": list(launch.global_offset),
            "arguments": {name: argument_text(it) for name, it in launch.arguments.items()},
            "origin": launch.origin.value,
            **_files(launch),
        },
        "device": settings.device,
        "time_limit_s": time_limit_s,
        "memory_limit_mib": settings.emulate.memory_limit_mib,
    }


def _files(launch: Launch) -> dict[str, Any]:
    """Return from where a launch's files are looked up, and where they must lie; all have the same source."""
    from clmap_lsp.launch.model import BufferArgument

    for it in launch.arguments.values():
        if isinstance(it, BufferArgument) and it.within is not None:
            return {"folder": it.folder, "within": list(it.within.roots)}
    return {"folder": "", "within": []}


def launch_of(payload: Mapping[str, Any]) -> PartialLaunch:
    """Return the launch of a payload."""
    from clmap_lsp.launch.model import Origin
    from clmap_lsp.launch.partial import PartialLaunch
    from clmap_lsp.reading import ReadScope

    launch = payload["launch"]
    return PartialLaunch(
        payload["kernel"],
        tuple(launch["global_size"]),
        tuple(launch["local_size"]),
        tuple(launch["global_offset"]),
        dict(launch["arguments"]),
        origin=Origin(launch["origin"]),
        source="the editor",
        folder=launch.get("folder", ""),
        within=ReadScope(tuple(launch.get("within", ()))),
    )


def settings_of(payload: Mapping[str, Any]) -> Settings:
    """Return the build options, the device and the limits of a payload."""
    from clmap_lsp.config import EmulateSettings, Settings
    from clmap_lsp.source.options import BuildOptions

    options = payload["options"]
    build = BuildOptions(
        tuple((name, value) for name, value in options["defines"]),
        tuple(options["undefines"]),
        tuple(options["include_dirs"]),
        options["standard"],
        tuple((name, value) for name, value in options["predefined"]),
    )
    limits = EmulateSettings(True, payload["time_limit_s"], payload["memory_limit_mib"])
    return Settings(build=build, device=payload["device"], emulate=limits)
