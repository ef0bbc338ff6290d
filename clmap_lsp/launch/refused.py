"""What a driver would not launch, though its accesses can be counted."""

from __future__ import annotations

from collections.abc import Iterator

from clmap_lsp.launch.model import Launch, Origin


def refusals(launch: Launch, device: str, most: int | None, standard: str) -> Iterator[str]:
    """Yield why OpenCL or the device refuses a launch, with the cure; sizes that were inferred accuse nobody.

    Args:
        device: the id of its model.
        most: work-items that it takes in a work-group, where that is known.
        standard: what the kernel is built as, such as `CL1.2`.
    """
    if most is not None and launch.group_items > most:
        groups = "x".join(map(str, launch.local_size))
        yield f"work-groups of {groups} have {launch.group_items} work-items; {device} runs at most {most}"
    is_guessed = not {"global", "local"}.isdisjoint(launch.inferred) or launch.origin is Origin.INFERRED
    if is_guessed or not standard.startswith("CL1"):
        return
    for dimension, (size, group) in enumerate(zip(launch.global_size, launch.local_size, strict=True)):
        if size % group:
            whole = -(-size // group) * group
            yield (
                f"OpenCL {standard.removeprefix('CL')} refuses this launch: in dimension {dimension} the "
                f"global size {size} is not a multiple of the local size {group}; launch {whole} with a "
                "guard in the kernel, or build with -cl-std=CL2.0"
            )
            return
