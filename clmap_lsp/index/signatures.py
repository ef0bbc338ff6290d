"""Signatures of the call around a place, with the parameter that stands there."""

from __future__ import annotations

import re

from clmap_lsp.dataclass import record
from clmap_lsp.index import builtins
from clmap_lsp.index.describe import comment_above, function_signature
from clmap_lsp.index.index import Index
from clmap_lsp.index.model import CALLABLE, Call, Symbol


@record(frozen=True, slots=True)
class Signature:
    """One way to call a function; `parameters` are ranges of the text."""

    text: str
    parameters: tuple[tuple[int, int], ...]
    description: str


@record(frozen=True, slots=True)
class Signatures:
    """The ways to call a function, which fits best, and the parameter at the place."""

    signatures: tuple[Signature, ...]
    active_signature: int
    active_parameter: int


def signatures_at(index: Index, offset: int) -> Signatures | None:
    """Return the signatures of the innermost call around an offset."""
    macro = _macro_at(index, offset)
    found = None if macro is not None else _call_at(index, offset)
    if found is None:
        return macro
    call, base = found
    active = sum(1 for it in call.commas if index.tokens[base + it].start < offset)
    if isinstance(call.callee, str):
        builtin = builtins.find(call.callee)
        return None if builtin is None else _of_builtin(builtin, call, active)
    if isinstance(call.callee, Symbol) and call.callee.kind in CALLABLE:
        return _of_symbol(index, call.callee, active)
    return None


def _call_at(index: Index, offset: int) -> tuple[Call, int] | None:
    token = index.token_at(offset - 1)
    placed = None if token is None else index.unit_at(token)
    if placed is None or token is None:
        return None
    best: Call | None = None
    for call in placed.unit.calls:
        opening = index.tokens[placed.start + call.opening]
        if opening.path != index.path or opening.start >= offset or placed.start + call.opening > token:
            continue
        last = placed.start + call.end - 1
        inside = index.texts[placed.start + call.opening : last + 1]
        is_closed = inside[-1:] == [")"] and inside.count("(") == inside.count(")")
        if is_closed and index.tokens[last].start < offset:
            continue
        if not is_closed and ";" in index.texts[placed.start + call.opening : token + 1]:
            continue
        if best is None or call.opening > best.opening:
            best = call
    return None if best is None else (best, placed.start)


def _of_builtin(builtin: builtins.Builtin, call: Call, active: int) -> Signatures:
    known = [it for it in call.arguments if it is not None]
    best = builtins.best_fit(builtin, known, active)
    if best is None and active < len(known):
        known = known[:active]  # What follows the place may belong to the next line.
        best = builtins.best_fit(builtin, known, active)
    is_known = best is not None and bool(known) and builtins.is_bound(best, known)
    shown: dict[str, int] = {}
    chosen: str | None = None
    for overload in builtin.overloads[:12]:
        is_best = best is not None and best.overload is overload
        text = builtins.shown(builtin, best) if best is not None and is_best and is_known else overload.shown
        if is_best or (best is None and chosen is None and len(overload.parameters) > active):
            chosen = text
        shown.setdefault(text, len(shown))
    signatures = tuple(Signature(it, _parameters(it), builtin.description) for it in shown)
    return Signatures(signatures, shown.get(chosen or "", 0), active)


def _of_symbol(index: Index, symbol: Symbol, active: int) -> Signatures:
    shown: list[Signature] = []
    candidate: Symbol | None = symbol
    while candidate is not None:
        text = function_signature(candidate)
        shown.append(Signature(text, _parameters(text), comment_above(index, index.definition(candidate))))
        candidate = candidate.overloads
    fitting = (at for at, it in enumerate(shown) if len(it.parameters) > active)
    return Signatures(tuple(shown), next(fitting, 0), active)


def _macro_at(index: Index, offset: int) -> Signatures | None:
    """Return the signature of a macro's use that is being typed: its arguments are not in any call yet."""
    text = index.text[max(0, offset - 400) : offset]
    depth = commas = 0
    at = len(text) - 1
    while at >= 0:
        char = text[at]
        if char == ")":
            depth += 1
        elif char == "(":
            if depth == 0:
                break
            depth -= 1
        elif char == "," and depth == 0:
            commas += 1
        elif char in ";{}":
            return None
        at -= 1
    match = re.search(r"([A-Za-z_]\w*)\s*\Z", text[: max(at, 0)])
    if at < 0 or match is None:
        return None
    macro = next((it.macro for it in reversed(index.macros) if it.name == match[1]), None)
    if macro is None or macro.parameters is None:
        return None
    shown = f"{macro.name}({', '.join(macro.parameters)})"
    return Signatures((Signature(shown, _parameters(shown), f"`{macro.body[:120]}`"),), 0, commas)


def _parameters(text: str) -> tuple[tuple[int, int], ...]:
    """Return where each parameter stands in a signature."""
    start = text.index("(") + 1
    found: list[tuple[int, int]] = []
    at, depth = start, 0
    for place in range(start, len(text)):
        char = text[place]
        if char in "([":
            depth += 1
        elif (char == ")" and depth == 0) or (char == "," and depth == 0):
            if text[at:place].strip():
                lead = len(text[at:place]) - len(text[at:place].lstrip())
                found.append((at + lead, place))
            at = place + 1
            if char == ")":
                break
        elif char in ")]":
            depth -= 1
    return tuple(found)
