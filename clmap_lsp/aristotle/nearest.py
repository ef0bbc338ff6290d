"""Which platform's records to use for a device: its own, or the nearest, with why."""

from __future__ import annotations

from clmap_lsp.aristotle.database import Source
from clmap_lsp.aristotle.records import Platform
from clmap_lsp.dataclass import dataclass

# NVIDIA's generations in order of time: the nearest in time behaves most alike (C2050 and K20m agree in the
# sign of 33 of 33 MAPs; GPUs and CPUs in 13 to 18).
_NVIDIA = (
    "nvidia-fermi", "nvidia-kepler", "nvidia-maxwell", "nvidia-pascal", "nvidia-volta", "nvidia-turing",
    "nvidia-ampere", "nvidia-ada", "nvidia-hopper", "nvidia-blackwell",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Choice:
    """A platform, and whether it is the device asked for."""

    platform: Platform
    exact: bool
    why: str
    """Why this one, in half a sentence: `H200 is the record of nvidia-hopper`."""


def find_platforms(database: Source, name: str | None) -> list[Platform]:
    """Return the platforms whose key, device or model contains `name`; all if it is None.

    Raises: ValueError naming what there is.
    """
    platforms = database.platforms()
    if name is None:
        return platforms
    wanted = name.casefold()
    exact = [it for it in platforms if it.key.casefold() == wanted]
    found = exact or [it for it in platforms if wanted in f"{it.key} {it.device} {it.model}".casefold()]
    if not found:
        raise ValueError(f"no records of {name!r}; there are {', '.join(it.key for it in platforms)}")
    return found


def choose(database: Source, device: str) -> Choice | None:
    """Return the first of `choices`, or None."""
    return next(iter(choices(database, device)), None)


def choices(database: Source, device: str) -> list[Choice]:
    """Return the platforms for a device model (`nvidia-hopper`) or a platform's name, best first.

    The device itself by name, then records of its model, one's own before shipped ones; if there are none,
    the nearest of its kind. Empty where only the predictor helps, as for `generic-gpu`.
    """
    platforms = _newest_first(database.platforms())
    wanted = device.casefold()
    named = [it for it in platforms if wanted in (it.key.casefold(), it.device.casefold())]
    same = [it for it in platforms if it.model and it.model == device and it not in named]
    exact = [Choice(it, True, f"{it.key} is the device asked for") for it in named]
    exact += [Choice(it, True, f"{it.key} is the record of {device}") for it in same]
    if not exact and (generation := _generation(device)):
        return choices(database, generation)
    if exact:
        return exact
    nearest: Choice | None = None
    if device.startswith("nvidia-"):
        nearest = _nearest_nvidia(platforms, device)
    elif device.startswith("amd-"):
        nearest = _first(platforms, "amd", device, "the only AMD device with records")
    return [nearest] if nearest else []


def _generation(device: str) -> str:
    """Return the generation of a product's model; empty for anything else."""
    from clmap_lsp.devices.catalogue import list_models

    return next((it.generation for it in list_models() if it.id == device), "")


def _nearest_nvidia(platforms: list[Platform], device: str) -> Choice | None:
    family = next((k for k, name in enumerate(_NVIDIA) if device.startswith(name)), None)
    known = [(it, _NVIDIA.index(it.model)) for it in platforms if it.model in _NVIDIA]
    if family is None or not known:
        return None
    best, place = min(known, key=lambda it: abs(it[1] - family))
    return Choice(
        best, False, f"no records of {device}: {best.key} ({_NVIDIA[place]}) is the nearest NVIDIA generation"
    )


def _first(platforms: list[Platform], vendor: str, device: str, why: str) -> Choice | None:
    for it in platforms:
        if it.vendor.casefold().startswith(vendor):
            return Choice(it, False, f"no records of {device}: {it.key} is {why}")
    return None


def _newest_first(platforms: list[Platform]) -> list[Platform]:
    # One's own measurements carry no year of release: they come first.
    return sorted(platforms, key=lambda it: (-(it.year or 9999), it.key))
