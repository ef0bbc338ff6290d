"""Launches of host code as the command line and editors get them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from clmap_lsp.hosts.host_launch import HostLaunch, HostValue
from clmap_lsp.hosts.launches import HostReport


def document(report: HostReport) -> dict[str, Any]:
    """Return the document of `clmap-lsp launches --format json`."""
    return {
        "schema": 1,
        "launches": [launch(it) for it in report.launches],
        "unnamed": [{"host_file": path, "host_row": row} for path, row in report.unnamed],
    }


def launch(it: HostLaunch) -> dict[str, Any]:
    """Return one launch: a number where every run uses it, else its expression, with defaults beside."""
    return {
        "kernel": it.kernel,
        "kernel_file": it.kernel_file,
        "host_file": it.host_file,
        "host_row": it.host_row,
        "global": _values(it.global_size),
        "local": _values(it.local_size),
        **({"offset": _values(it.offset)} if it.offset else {}),
        "args": {name: _value(value) for name, value in it.arguments.items()},
        "local_args": {name: _value(value) for name, value in it.local_arguments.items()},
        "buffers": {name: _value(value) for name, value in it.buffers.items()},
        "build_options": it.build_options,
        "default_defines": dict(it.assumed),
        "defaults": {
            "global": [_best(value) for value in it.global_size],
            "local": [_best(value) for value in it.local_size],
            **({"offset": [_best(value) for value in it.offset]} if it.offset else {}),
            "args": {name: _best(value) for name, value in it.arguments.items()},
            "local_args": {name: _best(value) for name, value in it.local_arguments.items()},
        },
    }


def _values(values: Iterable[HostValue | None]) -> list[int | float | str | None]:
    return [_value(it) for it in values]


def _value(value: HostValue | None) -> int | float | str | None:
    if value is None:
        return None
    return value.number if value.number is not None else value.text


def _best(value: HostValue | None) -> int | float | None:
    return value.best if value is not None else None
