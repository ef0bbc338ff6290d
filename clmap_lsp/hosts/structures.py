"""Edits of host code that keep each member of a buffer's structures in a buffer of its own.

The buffer's variable becomes one for each member; every statement that makes, writes, reads, hands over or
releases it is repeated for each, with the members of the host's array copied one by one before or after. For
plain C calls on a variable; whatever else happens to it is refused, with its place. What comes out is read
again together with the rewritten kernels: their launches must be given the members' buffers, and no other
launch may differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import isfinite

from clmap_lsp.hosts.changes import StructureChange
from clmap_lsp.hosts.editing import (
    HostEdits,
    Read,
    RefusedError,
    Reread,
    applied,
    short,
)
from clmap_lsp.hosts.host_launch import HostLaunch
from clmap_lsp.hosts.kernels import KernelText, kernels_in
from clmap_lsp.hosts.launches import HostReport
from clmap_lsp.hosts.structure_calls import HostCalls


def structure_edits(
    report: HostReport, kernel_file: str, change: StructureChange, read: Read, reread: Reread
) -> HostEdits:
    """Return the edits that give the rewritten kernels of a file a buffer for each member."""
    wanted = [
        it for it in report.launches if it.kernel_file == kernel_file and it.kernel in change.parameters
    ]
    try:
        silent = set(change.parameters) - {it.kernel for it in wanted}
        if silent:
            raise RefusedError(f"no host code that launches `{min(silent)}` was found")
        paths = {it.host_file for it in wanted}
        path = min(paths)
        text = read(path)
        if len(paths) > 1 or kernel_file == path:
            raise RefusedError("kernels and all their launches are not in two files, one for each")
        if text is None or path.endswith(".py"):
            raise RefusedError(
                f"buffers of structures are taken apart in C and C++ only, not in {short(path)}"
            )
        kernels = tuple(kernels_in(read(kernel_file) or ""))
        edits = HostCalls(path, text, change, kernels, read).edits(wanted)
        heads = _heads(kernels, change)
        _hold(report, wanted, change, reread({path: applied(text, edits), kernel_file: heads}))
    except RefusedError as refused:
        return HostEdits(reason=str(refused))
    return HostEdits(tuple(edits))


def _heads(kernels: Iterable[KernelText], change: StructureChange) -> str:
    """Return the heads of a file's kernels after the rewrite: all of it that host code can tell."""
    texts = []
    for kernel in kernels:
        split = change.parameters.get(kernel.name, {})
        listed: list[str] = []
        for it in kernel.parameters:
            arrays = [f"__global {change.fields[at].type} *{name}" for at, name in split.get(it.name, ())]
            listed += arrays or [f"{it.type} {it.name}"]
        texts.append(f"__kernel void {kernel.name}({', '.join(listed)}) {{}}\n")
    return "".join(texts)


# ------------------------------------------------------------------------------------------- holding


def _hold(
    report: HostReport, wanted: Sequence[HostLaunch], change: StructureChange, after: HostReport
) -> None:
    """Refuse where the edited program launches anything else than what it did, on members' buffers."""
    asked = sorted((_said(it, change if it in wanted else None) for it in report.launches), key=repr)
    found = sorted((_said(it, None) for it in after.launches), key=repr)
    new = {
        it.kernel: {name for split in change.parameters[it.kernel].values() for _, name in split}
        for it in wanted
    }
    sizes = [
        {
            (it.kernel, name, value.best)
            for name, value in it.buffers.items()
            if name in new.get(it.kernel, ())
        }
        for it in after.launches
    ]
    known = {it for each in wanted for it in _sizes(each, change)}
    unsure = {(kernel, name) for kernel, name, size in known if size is None}
    if asked != found or any(
        (it[0], it[1]) not in unsure and it not in known for each in sizes for it in each
    ):
        raise RefusedError("what the edited program would launch cannot be followed to the members' buffers")


def _said(launch: HostLaunch, change: StructureChange | None) -> tuple[object, ...]:
    """Return what a launch is, as it must be after the change; sizes of members' buffers are left out."""
    split = change.parameters[launch.kernel] if change is not None else {}
    names = [array for name in launch.set_at for _, array in split.get(name, ((0, name),))]
    groups = (launch.arguments, launch.local_arguments)
    scalars = [sorted((name, value.best) for name, value in it.items()) for it in groups]
    ranges = [each.best if each else None for each in (*launch.global_size, *launch.local_size)]
    return launch.kernel, launch.host_file, ranges, scalars, sorted(names)


def _sizes(launch: HostLaunch, change: StructureChange) -> Iterator[tuple[str, str, int | None]]:
    """Yield how long the members' buffers of a launch have to be, where that is known."""
    for name, split in change.parameters[launch.kernel].items():
        whole = launch.buffers[name].best if name in launch.buffers else None
        for member, array in split:
            count = None if whole is None or not isfinite(whole) else int(whole) // change.bytes
            yield launch.kernel, array, None if count is None else count * change.fields[member].bytes
