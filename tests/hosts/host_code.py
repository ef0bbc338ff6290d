"""Host code of tests as files in a folder, and what is read out of it."""

from __future__ import annotations

from pathlib import Path

from clmap_lsp.hosts.host_launch import HostLaunch
from clmap_lsp.hosts.launches import launches_of
from clmap_lsp.workbench.hosts import project_of

KERNELS = """\
__kernel void scale(__global float *a, int n) { if (get_global_id(0) < n) a[get_global_id(0)] *= 2.0f; }
__kernel void shift(__global float *a, int n) { if (get_global_id(0) < n) a[get_global_id(0)] += 2.0f; }
"""


def read(folder: Path, **files: str) -> dict[str, HostLaunch]:
    (folder / "kernels.cl").write_text(KERNELS)
    for name, text in files.items():
        (folder / name.replace("_dot_", ".")).write_text(text)
    return {it.kernel: it for it in launches_of(project_of(str(folder))).launches}


def numbers(launch: HostLaunch) -> tuple[list[int | float | None], list[int | float | None]]:
    return (
        [it.number for it in launch.global_size],
        [it.number if it is not None else None for it in launch.local_size],
    )
