"""The best versions of a kernel timed on a device: what is fastest there is best, whatever was predicted.

Times are kept by the content of a version, its launch and the device with its driver, so that a search that
is run again measures only what it has not seen.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clmap_lsp.dataclass import dataclass
from clmap_lsp.reading import ARRAYS_BYTES, safe_read
from clmap_lsp.research import make_job, time_versions
from clmap_lsp.strange_json import parsed
from clmap_lsp.whole_files import write_whole

if TYPE_CHECKING:
    from clmap_lsp.fixes.model import Subject
    from clmap_lsp.fixes.optimise import Found, Step
    from clmap_lsp.research import DeviceJob

BEST = 6
"""Ways of which every version is measured."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """What a device took for versions, in seconds by text and launch; and why some have no time."""

    device: Mapping[str, Any]
    seconds: Mapping[tuple[object, ...], float] = field(default_factory=dict)
    problems: Mapping[tuple[object, ...], str] = field(default_factory=dict)

    def of(self, step: Step) -> float | None:
        """Return a version's seconds; `None` where it was not measured, or is wrong there."""
        return self.seconds.get(key_of(step))

    def problem(self, step: Step) -> str:
        """Return why a version has no time."""
        return self.problems.get(key_of(step), "")


def key_of(step: Step) -> tuple[object, ...]:
    """Return what a version is known by."""
    return step.text, step.launch.global_size, step.launch.local_size


def measure(
    subject: Subject,
    found: Found,
    platform: str | None,
    *,
    folder: Path | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> tuple[Found, Measurement]:
    """Return what was found, the version that is fastest on a device as the best one, and the times.

    Args:
        platform: a device's number or a part of its name; None: the first GPU, else the first device.
        folder: where times are kept; the user's data folder if not given.
    Raises: DeviceError; NotForDevicesError; LaunchError for files that cannot be read.
    """
    ways = (found.steps, *found.others[: BEST - 1])
    steps: dict[tuple[object, ...], Step] = {}
    for way in ways:
        for step in way:
            steps.setdefault(key_of(step), step)
    kept = _Kept(folder or _folder(), platform)
    known = {
        key: kept.seconds[name] for key, it in steps.items() if (name := _name(subject, it)) in kept.seconds
    }
    first = found.steps[0]
    missing = [it for key, it in steps.items() if key not in known]
    device: Mapping[str, Any] = kept.device
    problems: dict[tuple[object, ...], str] = {}
    if missing:
        # The original is measured each time: the others' outputs are held against its own.
        chosen = [first, *(it for it in missing if it is not first)]
        device, times = time_versions([_job(subject, it) for it in chosen], platform, progress=progress)
        for step, timed in zip(chosen, times, strict=True):
            if timed.seconds is None:
                problems[key_of(step)] = timed.problem
            else:
                known[key_of(step)] = timed.seconds
        kept.add(device, {_name(subject, it): known[key_of(it)] for it in chosen if key_of(it) in known})
    best = min(ways, key=lambda way: known.get(key_of(way[-1]), float("inf")))
    if known[key_of(first)] <= known.get(key_of(best[-1]), float("inf")):
        best = found.steps[:1]
    others = tuple(it for it in ways if it is not best and len(it) > 1) + found.others[BEST - 1 :]
    return replace(found, steps=best, others=others), Measurement(device, known, problems)


def _job(subject: Subject, step: Step) -> DeviceJob:
    program = subject.read(step.text)
    kernel = program.kernel(subject.analysis.name)
    assert kernel is not None, "every version was read before"
    return make_job(program, kernel, step.launch, subject.options)


def _name(subject: Subject, step: Step) -> str:
    """Return the digest of all that decides what runs."""
    files = {path: it.text for path, it in subject.program.files.items() if path != subject.path}
    parts = (
        step.text,
        sorted(files.items()),
        subject.analysis.name,
        repr(step.launch),
        repr(subject.options),
    )
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _folder() -> Path:
    import platformdirs

    return Path(platformdirs.user_data_dir("clmap-lsp", appauthor=False)) / "measured"


class _Kept:
    """Times that were measured before on the device that a selector names, with its driver."""

    def __init__(self, folder: Path, platform: str | None) -> None:
        from clmap_lsp.research import choose_device

        _, facts = choose_device(platform)
        self.device: Mapping[str, Any] = facts.as_json()
        words = (facts.name, facts.driver, facts.platform)
        self.path = folder / f"{hashlib.sha256(repr(words).encode()).hexdigest()[:16]}.json"
        self.seconds: dict[str, float] = {}
        if self.path.is_file():
            text = safe_read(self.path, limit=ARRAYS_BYTES, within=None).decode(errors="replace")
            try:
                self.seconds = {str(name): float(it) for name, it in parsed(text)["seconds"].items()}
            except (ValueError, KeyError, AttributeError, TypeError):
                self.seconds = {}  # What is no such file is measured anew.

    def add(self, device: Mapping[str, Any], seconds: Mapping[str, float]) -> None:
        """Keep times."""
        self.seconds.update(seconds)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        document = {"schema": 1, "device": dict(device), "seconds": self.seconds}
        write_whole(self.path, (json.dumps(document, indent=1) + "\n").encode())
