"""The device models that ship, read from `models/*.toml`.

A model file says each fact as `{ value = ..., source = "key", confidence = "...", note = "..." }`, where
`key` names an entry of its `[sources]` table. `value = "unknown"` is a fact of its own: it is not published.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from clmap_lsp import defaults
from clmap_lsp.devices.model import (
    BankedLocal,
    CachedLocal,
    Confidence,
    ConstantRule,
    DeviceModel,
    Fact,
    GlobalRule,
    Limits,
    LocalRule,
    Matcher,
    Merge,
    PhaseRule,
    Unknown,
)
from clmap_lsp.errors import one_line
from clmap_lsp.reading import SETTINGS_BYTES, safe_read
from clmap_lsp.suggestions import nearest

DEFAULT_MODEL = defaults.DEVICE
_FOLDER = Path(__file__).with_name("models")
_LIMITS = (
    "max_work_group_size",
    "local_bytes_per_group",
    "local_bytes_per_compute_unit",
    "constant_bytes",
    "compute_units",
    "registers_per_compute_unit",
    "registers_per_work_item",
    "groups_per_compute_unit",
    "simd_groups_per_compute_unit",
)
_WIDTHS = (4, 8, 16)
_LONGEST_NAME = 100
_Choice = TypeVar("_Choice", Confidence, ConstantRule, Merge)


class DeviceModelError(ValueError):
    """A model that is not there or cannot be read; the message is one line and names the cure."""


@cache
def list_models() -> tuple[DeviceModel, ...]:
    """Return every model that ships, the default first, then by vendor in the order of their files."""
    paths = sorted(_FOLDER.glob("*.toml"))
    models = [read_model(path) for path in paths]
    return tuple(sorted(models, key=lambda it: (it.id != DEFAULT_MODEL, it.vendor, it.id)))


@cache
def load_model(name: str = DEFAULT_MODEL) -> DeviceModel:
    """Return the model with this id or alias, without regard to case.

    Raises: DeviceModelError, one line, with the nearest id: `unknown device "x"; did you mean "y"? ...`.
    """
    wanted = name.strip().lower()
    direct = _FOLDER / f"{wanted}.toml"
    if len(wanted) <= _LONGEST_NAME and wanted.replace("-", "").isalnum() and direct.is_file():
        return read_model(direct)
    names = {alias.lower(): model for model in list_models() for alias in (model.id, *model.aliases)}
    if wanted in names:
        return names[wanted]
    near = nearest(wanted, names)
    hint = f'; did you mean "{names[near].id}"?' if near else "."
    shown = name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"
    raise DeviceModelError(f'unknown device "{one_line(shown)}"{hint} List: clmap-lsp devices')


def read_model(path: Path) -> DeviceModel:
    """Read one model file. Raises: DeviceModelError naming the file and the entry that is wrong."""
    try:
        return _Reader(_document(path), path.name).model()
    except OSError as error:
        raise DeviceModelError(f"{path}: {error.strerror or error}") from error
    except tomllib.TOMLDecodeError as error:
        raise DeviceModelError(f"{path.name}: {error}") from error


def _document(path: Path) -> dict[str, Any]:
    """Return a parsed file; a product's, with `extends`, over that of its generation."""
    own = tomllib.loads(safe_read(path, limit=SETTINGS_BYTES, within=None).decode())
    generation = own.get("extends")
    if not isinstance(generation, str):
        return own
    document = _document(path.parent / f"{generation}.toml")
    document["aliases"] = []
    for name, value in own.items():
        table = document.get(name)
        document[name] = {**table, **value} if isinstance(table, dict) and isinstance(value, dict) else value
    return document


class _Reader:
    """Turns one parsed file into a model, keeping every fact that it meets."""

    def __init__(self, data: Mapping[str, Any], file: str) -> None:
        self._data = data
        self._file = file
        self._facts: dict[str, Fact] = {}

    def model(self) -> DeviceModel:
        data = self._data
        widths = self._integers("simd", "widths")
        if "channels" in data:  # Facts to report; no model has all that counting by channel needs.
            self._integer("channels", "bytes")
            self._integer("channels", "count")
            self._string("channels", "mapping")
        return DeviceModel(
            id=self._text(data, "id"),
            name=self._text(data, "name"),
            vendor=self._text(data, "vendor"),
            aliases=tuple(data.get("aliases", ())),
            simd_width=self._required_integer("simd", "width"),
            simd_widths=widths or (self._required_integer("simd", "width"),),
            line_bytes=self._integer("global", "line_bytes"),
            global_rule=self._global_rule(),
            local_rule=self._local_rule(),
            constant_rule=self._choice(ConstantRule, "constant", "rule"),
            limits=Limits(**{name: self._integer("limits", name) for name in _LIMITS}),
            matcher=self._matcher(),
            facts=self._facts,
            notes=tuple(data.get("notes", ())),
            has_scratchpad=self._scratchpad(),
            generation=str(data.get("extends", "")),
            constant_gains={"none": False, "some": True}.get(self._string("constant", "gain") or ""),
        )

    def _global_rule(self) -> GlobalRule:
        return GlobalRule(
            load_granule=self._integer("global", "load_granule_bytes"),
            store_granule=self._integer("global", "store_granule_bytes"),
            split=self._split("split"),
            disputed_split=self._split("disputed_split"),
            max_access_bytes=self._integer("global", "max_access_bytes") or None,
            max_access_elements=self._integer("global", "max_access_elements"),
            atomics_by_turns=self._string("global", "atomics") == "by-turns",
        )

    def _split(self, name: str) -> dict[int, int]:
        parts = {width: self._integer("global", f"{name}_{width}") for width in (8, 16)}
        return {width: count for width, count in parts.items() if count is not None}

    def _scratchpad(self) -> bool | None:
        table = self._table("local")
        known: dict[Any, bool | None] = {"banks": True, "cached": False}
        return known.get(table.get("kind"), table.get("scratchpad"))

    def _local_rule(self) -> LocalRule:
        kind = self._text(self._table("local"), "kind")
        if kind == "unknown":
            return Unknown(self._text(self._table("local"), "reason"))
        if kind == "cached":
            return CachedLocal(self._required_integer("local", "line_bytes"))
        if kind != "banks":
            raise self._wrong("local.kind", f'"banks", "cached" or "unknown", not "{kind}"')
        return BankedLocal(
            banks=self._required_integer("local", "banks"),
            bank_bytes=self._required_integer("local", "bank_bytes"),
            load_phases={width: self._phases("load", width) for width in _WIDTHS},
            store_phases={width: self._phases("store", width) for width in _WIDTHS},
            rows_joined=self._integer("local", "rows_joined") or 1,
            same_word_store_free=self._string("local", "same_word_stores") != "conflict",
        )

    def _phases(self, op: str, width: int) -> PhaseRule | Unknown:
        text = self._string("local", f"{op}_phases_{width}")
        fact = self._facts[f"local.{op}_phases_{width}"]
        if text is None:
            what = f"how {width * 8}-bit local {op}s are served"
            why = f" ({fact.note})" if fact.note else ""
            return Unknown(f"{what} is not published for {self._data['name']}{why}")
        try:
            groups = parse_phases(text)
        except ValueError as error:
            raise self._wrong(f"local.{op}_phases_{width}", str(error)) from error
        name = f"merge_{width}"
        merge = self._choice(Merge, "local", name) if name in self._table("local") else Merge.NONE
        extra = self._integer("local", f"extra_{width}") or 0
        return PhaseRule(groups, merge, extra)

    def _matcher(self) -> Matcher:
        table = self._data.get("match", {})
        capabilities = tuple(table.get("compute_capabilities", ()))
        return Matcher(str(table.get("vendor", "")), tuple(table.get("names", ())), capabilities)

    # Entries.

    def _table(self, name: str) -> Mapping[str, Any]:
        table = self._data.get(name)
        if not isinstance(table, dict):
            raise self._wrong(name, "a table")
        return table

    def _text(self, table: Mapping[str, Any], key: str) -> str:
        value = table.get(key)
        if not isinstance(value, str):
            raise self._wrong(key, "a string")
        return value

    def _fact(self, table: str, key: str) -> Fact | None:
        """Return the fact `table.key`, or None where the file has no such entry."""
        name = f"{table}.{key}"
        if name in self._facts:
            return self._facts[name]
        entry = self._table(table).get(key)
        if entry is None:
            return None
        if not isinstance(entry, dict) or "value" not in entry or "source" not in entry:
            raise self._wrong(name, "{ value = ..., source = ..., confidence = ... }")
        value = entry["value"]
        if isinstance(value, list):
            value = tuple(value)
        source = self._data.get("sources", {}).get(entry["source"])
        if source is None:
            raise self._wrong(name, f'a source that [sources] has, not "{entry["source"]}"')
        unknown = value == "unknown"
        said = "unknown" if unknown else entry.get("confidence", "documented")
        confidence = self._member(Confidence, said, f"{name}, confidence,")
        fact = Fact(None if unknown else value, source, confidence, entry.get("note", ""))
        self._facts[name] = fact
        return fact

    def _integer(self, table: str, key: str) -> int | None:
        value: int | None = self._typed(table, key, lambda it: isinstance(it, int), "a whole number")
        return value

    def _required_integer(self, table: str, key: str) -> int:
        value = self._integer(table, key)
        if value is None:
            raise self._wrong(f"{table}.{key}", "a whole number")
        return value

    def _integers(self, table: str, key: str) -> tuple[int, ...]:
        value = self._typed(table, key, lambda it: isinstance(it, tuple), "a list of whole numbers")
        return value or ()

    def _string(self, table: str, key: str) -> str | None:
        value: str | None = self._typed(table, key, lambda it: isinstance(it, str), "a string")
        return value

    def _typed(self, table: str, key: str, test: Callable[[Any], bool], wanted: str) -> Any:
        fact = self._fact(table, key)
        if fact is None or fact.value is None:
            return None
        if not test(fact.value):
            raise self._wrong(f"{table}.{key}", f"{wanted}, not {fact.value!r}")
        return fact.value

    def _choice(self, kind: type[_Choice], table: str, key: str) -> _Choice:
        """Return one of an enumeration that has a member `unknown`, for facts that are not published."""
        return self._member(kind, self._string(table, key) or "unknown", f"{table}.{key}")

    def _member(self, kind: type[_Choice], value: str, entry: str) -> _Choice:
        try:
            return kind(value)
        except ValueError as error:
            names = ", ".join(it.value for it in kind)
            raise self._wrong(entry, f"one of {names}") from error

    def _wrong(self, entry: str, wanted: str) -> DeviceModelError:
        return DeviceModelError(f"{self._file}: {entry} must be {wanted}")


def parse_phases(text: str) -> tuple[tuple[int, ...], ...]:
    """Read lane groups: `all`, `4 x 8` (consecutive lanes), or `0-3+20-23|4-7+16-19`.

    Raises: ValueError if a lane is missing or in two groups, or the text is none of these.
    """
    text = text.replace(" ", "")
    if text == "all":
        return ()
    if "x" in text:
        count, size = (int(it) for it in text.split("x"))
        return tuple(tuple(range(at * size, (at + 1) * size)) for at in range(count))
    groups = tuple(_lanes(group) for group in text.split("|"))
    if sorted(lane for group in groups for lane in group) != list(range(sum(map(len, groups)))):
        raise ValueError(f"lane groups that hold every lane once, not {text!r}")
    return groups


def _lanes(group: str) -> tuple[int, ...]:
    lanes: list[int] = []
    for part in group.split("+"):
        first, _, last = part.partition("-")
        lanes.extend(range(int(first), int(last or first) + 1))
    return tuple(lanes)
