"""Compare two `analyze --format json` documents: which kernels cost more, which less.

A pure function over the documents, so that a review of kernels needs neither a GPU nor the sources.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from clmap_lsp.counted import counted
from clmap_lsp.dataclass import dataclass
from clmap_lsp.reading import DATA_BYTES, safe_read
from clmap_lsp.strange_json import parsed

FIGURES = (
    ("global_load", "sectors"),
    ("global_store", "sectors"),
    ("local_load", "wavefronts"),
    ("local_store", "wavefronts"),
)
"""The figures that are compared: lower is better."""


class CompareError(ValueError):
    """A document that cannot be compared; the message is one line."""


@dataclass(frozen=True, slots=True)
class Change:
    """One figure of one kernel. `before` or `after` is `None` where the kernel is new or gone."""

    path: str
    kernel: str
    figure: str
    before: int | None
    after: int | None

    @property
    def percent(self) -> float | None:
        """Growth in percent; `None` where there is nothing to compare, infinite from zero."""
        if self.before is None or self.after is None or self.before == self.after:
            return None
        return float("inf") if self.before == 0 else (self.after - self.before) / self.before * 100

    def regresses(self, threshold: float) -> bool:
        """Tell whether it grew by more than `threshold` percent."""
        percent = self.percent
        return percent is not None and percent > threshold


@dataclass(frozen=True, slots=True)
class Comparison:
    """All changes, and what keeps kernels from being compared."""

    changes: tuple[Change, ...]
    notes: tuple[str, ...]

    def regressions(self, threshold: float) -> tuple[Change, ...]:
        """Return the figures that grew by more than `threshold` percent."""
        return tuple(it for it in self.changes if it.regresses(threshold))


def read(path: str) -> Mapping[str, Any]:
    """Read one document from its file. Raises: CompareError with cause and cure; OSError."""
    try:
        text = safe_read(path, limit=DATA_BYTES, within=None).decode("utf-8")
    except UnicodeDecodeError:
        raise CompareError(
            f"{path}: not UTF-8; write it with: clmap-lsp analyze PATH --format json"
        ) from None
    return parse(text, path)


def parse(text: str, path: str) -> Mapping[str, Any]:
    """Read one document.

    Raises: CompareError with cause and cure.
    """
    cure = "write it with: clmap-lsp analyze PATH --format json"
    try:
        data = parsed(text)
    except ValueError as error:
        raise CompareError(f"{path}: not JSON ({error}); {cure}") from None
    if not isinstance(data, dict) or data.get("schema") != 1 or not isinstance(data.get("files"), list):
        raise CompareError(f"{path}: not an analysis of this version; {cure}")
    return data


def compare(before: Mapping[str, Any], after: Mapping[str, Any]) -> Comparison:
    """Compare kernels of the same path and name; kernels that moved between files are matched by name."""
    notes = []
    if before.get("device") != after.get("device"):
        notes.append(f"different devices: {before.get('device')} before, {after.get('device')} after")
    old, new = _kernels(before), _kernels(after)
    pairs = _pairs(old, new)
    changes: list[Change] = []
    for key, was in pairs.items():
        now = new[key]
        if (was.get("launch") or {}) != (now.get("launch") or {}) and _sizes(was) != _sizes(now):
            notes.append(f"{key[1]}: launched with {_sizes(was)} before, {_sizes(now)} after")
        changes += _changes(key, was, now)
    matched = {id(it) for it in pairs.values()}
    notes += [f"{name} is new in {path}" for path, name in new if (path, name) not in pairs]
    notes += [f"{name} is gone from {path}" for (path, name), it in old.items() if id(it) not in matched]
    return Comparison(tuple(changes), tuple(notes))


def _kernels(document: Mapping[str, Any]) -> dict[tuple[str, str], Mapping[str, Any]]:
    return {
        (file["path"], kernel["name"]): kernel
        for file in document["files"]
        for kernel in file.get("kernels", ())
    }


def _pairs(
    old: Mapping[tuple[str, str], Mapping[str, Any]], new: Mapping[tuple[str, str], Mapping[str, Any]]
) -> dict[tuple[str, str], Mapping[str, Any]]:
    """Return the old kernel of each new one."""
    pairs = {key: old[key] for key in new if key in old}
    left_old = [key for key in old if key not in pairs]
    left_new = [key for key in new if key not in pairs]
    for key in left_new:
        same = [it for it in left_old if it[1] == key[1]]
        if len(same) == 1 and sum(it[1] == key[1] for it in left_new) == 1:
            pairs[key] = old[same[0]]
    return pairs


def _sizes(kernel: Mapping[str, Any]) -> str:
    launch = kernel.get("launch")
    if not launch:
        return "no launch"
    scalars = {k: v for k, v in (launch.get("args") or {}).items() if "(" not in str(v)}
    sizes = "x".join(map(str, launch["global"]))
    return f"{sizes} in {'x'.join(map(str, launch['local']))}" + "".join(
        f", {name}={value}" for name, value in scalars.items()
    )


def _changes(key: tuple[str, str], was: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[Change]:
    for group, figure in FIGURES:
        before = was.get("totals", {}).get(group, {}).get(figure)
        after = now.get("totals", {}).get(group, {}).get(figure)
        yield Change(key[0], key[1], f"{group}.{figure}", before, after)


def render(comparison: Comparison, threshold: float) -> str:
    """Return the changed figures as text, regressions marked, and a summary line."""
    lines = []
    for it in comparison.changes:
        if it.percent is None:
            continue
        mark = "worse " if it.regresses(threshold) else "better" if (it.percent or 0) < 0 else "within"
        lines.append(
            f"{mark}  {it.path}: {it.kernel}: {it.figure} {it.before} -> {it.after} ({it.percent:+.1f} %)"
        )
    lines += [f"note    {it}" for it in comparison.notes]
    worse = comparison.regressions(threshold)
    kernels = len({(it.path, it.kernel) for it in worse})
    lines.append(
        f"{counted(len(worse), 'figure')} of {counted(kernels, 'kernel')} grew by more than {threshold:g} %"
        if worse
        else f"no figure grew by more than {threshold:g} %"
    )
    return "\n".join(lines) + "\n"


def render_json(comparison: Comparison, threshold: float) -> str:
    """Return the comparison for tools."""
    document = {
        "schema": 1,
        "threshold_percent": threshold,
        "changes": [
            {
                "path": it.path,
                "kernel": it.kernel,
                "figure": it.figure,
                "before": it.before,
                "after": it.after,
                "percent": None if it.percent in (None, float("inf")) else it.percent,
                "regression": it.regresses(threshold),
            }
            for it in comparison.changes
            if it.before != it.after
        ],
        "notes": list(comparison.notes),
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
