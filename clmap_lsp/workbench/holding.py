"""Whether findings that rest on guesses hold on other plausible launches and macros as well."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from clmap_lsp.analysis.rests_on import GUESSED
from clmap_lsp.dataclass import dataclass
from clmap_lsp.findings import Finding, Rest, Severity
from clmap_lsp.interruption import checkpoint
from clmap_lsp.launch.plausible import plausible
from clmap_lsp.rules.meta import Needs, Rule, Scope
from clmap_lsp.source.ir import VariableKind
from clmap_lsp.source.per_kernel import n_statements
from clmap_lsp.source.types import ArrayType, Type
from clmap_lsp.workbench.other_launches import Other

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import KernelAnalysis
    from clmap_lsp.devices import DeviceModel
    from clmap_lsp.launch.partial import PartialLaunch
    from clmap_lsp.workbench.other_launches import Found, OtherLaunches, Place

MAX_KERNEL_WORK = 1 << 18
"""What the other launches of one kernel may cost together, in the unit of `KernelAnalysis.work`: two seconds.
What was not tried by then lets findings hold on this launch, and be information."""
MAX_WORK = 1 << 20
"""What those of one file's kernels may cost, the last not counted."""
STATEMENT_WORK = 32
"""What it costs beside that to read a statement again and to follow its values, in the same unit."""
AT_ONCE_STATEMENTS = 300
"""So many of them are analysed again while somebody waits..."""
AT_ONCE_WORK = 10_000
"""... unless trying the other launches cost more than this when that was done last."""
_MACRO_VALUES = (("8", "32", "1"), ("32", "32", "4"), ("37", "32", "8"))
"""Other values of constants that nothing defines: powers of two, and none. The second of each is for what
arrays in local memory are as long as: tiles are powers of two, or else the kernel's author knows of the
odd size. The third is for what is small by its name, such as elements of a work-item."""
_SMALL_VALUE = "4"
"""What the reader takes for such a constant."""
_SHAPE_RULES = frozenset({"CM104"})
"""What follows from the shape of the groups alone, and is worth a warning only where that is known."""
_LOCAL_RULES = frozenset({"CM504"})
"""What follows from sizes of local memory, and is nothing where these are guessed."""
_PRIVATE_RULE = "CM503"
"""What follows from the sizes of arrays of each work-item."""
_HINTS_ONLY = frozenset({"CM502"})
"""What is a hint on every launch, and takes long to find: other launches are not asked for it."""
_LOUD = frozenset({Severity.ERROR, Severity.WARNING})
_VARIED = frozenset({"macro", "scalar", "global", "local", "offset", "local_arg", "contents"})
"""Guesses of which other values are tried; that buffers are aligned, say, holds of all of them."""


Analyse = Callable[[str, "PartialLaunch | None", tuple[tuple[str, str], ...]], "KernelAnalysis | None"]
"""Analyses a kernel by name with a launch, or with macros, that take the place of guesses; None where it has
no such launch, or does not hang on these macros."""


def judged(
    findings: Sequence[Finding],
    kernels: Sequence[KernelAnalysis],
    rules: Sequence[Rule],
    device: DeviceModel,
    defined: Sequence[Rest],
    analyse: Analyse,
    memory: OtherLaunches | None = None,
    branches: int = 0,
    paddings: tuple[str, ...] = (),
    defaults: tuple[tuple[str, int], ...] = (),
    *,
    waits: bool = True,
) -> tuple[tuple[Finding, ...], bool]:
    """Return findings with what they rest on, lowered where they do not hold on all that is plausible.

    Without `waits`, large kernels of which that is not known yet are not tried: what was said of them before
    their last edits holds on, as far as it can be told. Also returns whether none was left like that.

    Args:
        defined: macros that host code says.
        paddings: macros that the file defines as 0 unless the build does, to pad arrays with.
        defaults: those that it defines as other numbers unless the build does.
    """
    asked = [it for it in rules if it.meta.scope is Scope.KERNEL and it.meta.needs is Needs.ANALYSIS]
    codes = tuple(it.meta.code for it in asked)
    by_name = {it.name: it for it in kernels}
    # The same for all kernels, so that the file is read once for each value.
    macros = _Macros(
        tuple(dict.fromkeys(it.name for kernel in kernels for it in kernel.guesses if it.role == "constant")),
        tuple(dict.fromkeys(it for kernel in kernels for it in _guessed_types(kernel))),
        paddings,
        defaults,
    )

    of_private = {it.kernel for it in findings if it.code == _PRIVATE_RULE}

    def of_what(kernel: KernelAnalysis) -> object:
        return codes, macros, branches if macros.any() else 0, kernel.name in of_private

    def vary(kernel: KernelAnalysis) -> Sequence[Other]:
        about_private = kernel.name in of_private
        make = partial(_others, kernel, asked, device, analyse, macros, about_private=about_private)
        return list(make()) if memory is None else memory.of(kernel, of_what(kernel), make)

    others: dict[str, Sequence[Other] | None] = {}
    put_off: set[str] = set()
    left, at_once = MAX_WORK, None if waits or memory is None else AT_ONCE_STATEMENTS
    result = []
    for finding in findings:
        kernel = by_name.get(finding.kernel or "")
        if kernel is None or finding.code not in codes:
            rests = () if kernel is None else _rests_on(finding, kernel, defined)
            result.append(replace(finding, rests_on=finding.rests_on or rests))
            continue
        rests = _rests_on(finding, kernel, defined)
        finding = replace(finding, rests_on=rests)  # noqa: PLW2901
        if any(it.origin == GUESSED and it.kind in _VARIED for it in rests):
            if kernel.name not in others:
                size = n_statements(kernel.kernel)
                fits = left > 0 and kernel.work + STATEMENT_WORK * size <= MAX_KERNEL_WORK
                if fits and at_once is not None and memory and not memory.is_known(kernel, of_what(kernel)):
                    at_once -= size
                    last = memory.last(kernel)
                    if at_once < 0 or sum(it.work for it in last or ()) > AT_ONCE_WORK:
                        put_off.add(kernel.name)
                        others[kernel.name] = last
                if kernel.name not in put_off:
                    others[kernel.name] = vary(kernel) if fits else None
                left -= sum(it.work + STATEMENT_WORK * size for it in others[kernel.name] or ())
            tried = others[kernel.name]
            if kernel.name in put_off and not isinstance(_place(finding), str):
                tried = None  # Places have moved since.
            judged_ = _unheld(finding, kernel) if tried is None else _lowered(finding, kernel, tried)
            if judged_ is not None:
                result.append(judged_)
        else:
            result.append(finding)
    return tuple(result), not put_off


def _rests_on(finding: Finding, kernel: KernelAnalysis, defined: Sequence[Rest]) -> tuple[Rest, ...]:
    """Return what one finding rests on: all but arguments that neither its words nor its index speak of."""
    words = set(re.findall(r"[A-Za-z_]\w*", f"{finding.message} {_index_texts(finding.data)}"))
    whole = [Rest(it.kind, it.name, it.value, it.origin) for it in kernel.rests_on]
    return tuple(
        it
        for it in (*whole, *defined)
        if it.kind not in ("scalar", "image", "contents", "aliasing") or it.name in words
    )


def _index_texts(data: Mapping[str, object]) -> str:
    texts = [str(data.get(it, "")) for it in ("index", "stride", "in_general")]
    accesses = data.get("accesses")
    for it in accesses if isinstance(accesses, (list, tuple)) else ():
        if isinstance(it, Mapping):
            texts.append(_index_texts(it))
    return " ".join(texts)


def _others(
    kernel: KernelAnalysis,
    rules: Sequence[Rule],
    device: DeviceModel,
    analyse: Analyse,
    macros: _Macros,
    *,
    about_private: bool,
) -> Iterator[Other]:
    """Yield what the rules find on every other plausible launch, and with other values of macros.

    What all of it costs is counted, and ends it.

    Args:
        about_private: something was found that follows from the sizes of arrays of each work-item.
    """
    left = MAX_KERNEL_WORK
    for guess in _guesses(kernel, macros):
        if guess.about is not None and not about_private:
            continue
        if left <= 0:
            if not guess.of_text:
                yield Other("", True, frozenset(), is_rest=True)
            return
        found = analyse(kernel.name, guess.launch, guess.macros)
        if found is not None and (not guess.same_accesses or len(found.accesses) == len(kernel.accesses)):
            left -= found.work + STATEMENT_WORK * n_statements(found.kernel)
            said = _found(found, rules, device)
            yield Other(
                guess.instead_of,
                guess.invented,
                *said,
                work=found.work,
                about=guess.about,
                of_text=guess.of_text,
            )


@dataclass(frozen=True, slots=True)
class _Macros:
    """Macros that a file does not define, or only unless the build does."""

    constants: tuple[str, ...]
    types: tuple[tuple[str, str], ...]
    """Each with what it is taken for."""
    paddings: tuple[str, ...]
    """Those that pad arrays."""
    defaults: tuple[tuple[str, int], ...] = ()
    """Numbers that the file says what they are unless the build does."""

    def any(self) -> bool:
        return bool(self.constants or self.types or self.paddings or self.defaults)


@dataclass(frozen=True, slots=True)
class _Guess:
    """A guess to try instead of one that was made."""

    instead_of: str
    invented: bool
    launch: PartialLaunch | None = None
    macros: tuple[tuple[str, str], ...] = ()
    same_accesses: bool = False
    """It tells something only of a kernel that is left with as many accesses."""
    about: str | None = None
    of_text: bool = False
    """It takes the place of what the file itself says."""


def _guesses(kernel: KernelAnalysis, macros: _Macros) -> Iterator[_Guess]:
    launch = kernel.launch
    for it in plausible(kernel.kernel, launch) if launch is not None else ():
        yield _Guess(it.instead_of, it.invented, it.launch)
    constants = [it for it in kernel.guesses if it.role == "constant" and it.value is not None]
    listed = ", ".join(f"{it.name} is {it.value}" for it in constants[:3])
    sides = _tile_macros(kernel)
    few = {it.name for it in constants if it.value == _SMALL_VALUE}
    kept = {it.name for it in constants if it.value == "1"}  # Flags, and what pads rows.
    varied = [it for it in macros.constants if it not in kept]
    for value, tile, small in _MACRO_VALUES if constants else ():
        values = tuple((name, tile if name in sides else small if name in few else value) for name in varied)
        yield _Guess(listed, True, macros=values, same_accesses=True)
    if constants:  # Arrays of a work-item are small in tuned kernels, whatever the groups are.
        yield _Guess(listed, True, macros=tuple((name, "2") for name in varied), about=_PRIVATE_RULE)
    if own := _guessed_types(kernel):
        vectors = tuple((name, f"{value}4") for name, value in macros.types)
        listed = ", ".join(f"{name} is {value}" for name, value in own[:3])
        yield _Guess(listed, True, macros=vectors, same_accesses=True)
    if macros.paddings:
        yield _Guess(f"{macros.paddings[0]} is 0", True, macros=tuple((it, "1") for it in macros.paddings))
    listed = " and ".join(f"{name} ({value})" for name, value in macros.defaults[:2])
    # All are changed alike, so that they fit each other.
    for by in (Fraction(2), Fraction(1, 2)) if macros.defaults else ():
        values = tuple((name, str(int(value * by))) for name, value in macros.defaults)
        said = f"the build leaves the default{'s' * (len(values) > 1)} of {listed}"
        yield _Guess(said, False, macros=values, same_accesses=True, of_text=True)


def _guessed_types(kernel: KernelAnalysis) -> list[tuple[str, str]]:
    """Return the types that were guessed to be numbers, and may be vectors of them."""
    return [
        (it.name, it.value) for it in kernel.guesses if it.role == "type" and it.value in ("float", "int")
    ]


def _tile_macros(kernel: KernelAnalysis) -> frozenset[str]:
    """Return the guessed macros that arrays in local memory are as long as."""
    lengths = set()
    for variable in kernel.kernel.variables:
        kind: Type = variable.type
        while variable.kind is VariableKind.LOCAL_OBJECT and isinstance(kind, ArrayType):
            lengths.add(str(kind.length))
            kind = kind.element
    return frozenset(it.name for it in kernel.guesses if it.value in lengths)


def _found(
    kernel: KernelAnalysis, rules: Sequence[Rule], device: DeviceModel
) -> tuple[frozenset[Found], frozenset[Found]]:
    """Return what rules find, and what of it is a warning."""
    found: set[Found] = set()
    loud: set[Found] = set()
    for rule in rules:
        if rule.meta.code in _HINTS_ONLY:
            continue
        checkpoint()
        for it in rule.check(kernel, device):
            if it.severity is not Severity.HINT:
                found.add((it.code, _place(it)))
            if it.severity in _LOUD:
                loud.add((it.code, _place(it)))
    return frozenset(found), frozenset(loud)


def _place(finding: Finding) -> Place:
    """Return what a finding is about: a buffer; its dearest access may be another in another launch."""
    buffer = finding.data.get("buffer")
    return buffer if isinstance(buffer, str) else (finding.span.path, finding.span.start)


def _lowered(finding: Finding, kernel: KernelAnalysis, others: Sequence[Other]) -> Finding | None:
    """Return a finding as loud as what it rests on allows; `None` where nothing is left of it.

    One that hangs on the shape of the groups alone is information: shapes are few, and people try them. One
    that hangs on a value that was made up is a hint, and so is one that most shapes do not show.
    """
    launch = kernel.launch
    guessed = {it.kind for it in finding.rests_on if it.origin == GUESSED}
    if finding.code in _LOCAL_RULES and launch is not None and _guesses_local_memory(kernel):
        return None
    lost = [
        it
        for it in others
        if it.about in (None, finding.code)
        and not it.is_rest
        and (finding.code, _place(finding)) not in it.found
    ]
    lost, otherwise_built = [it for it in lost if not it.of_text], [it for it in lost if it.of_text]
    missing = list(dict.fromkeys(it.instead_of for it in lost))
    if finding.code in _SHAPE_RULES and "local" in guessed and launch is not None and not missing:
        missing = [f"the local size is {'x'.join(map(str, launch.local_size))}"]
    tables = _guessed_tables(finding, kernel)
    if tables and not missing:
        missing = [f"{it} holds what is guessed of it" for it in tables]
    if not missing and any(it.is_rest for it in others):
        return _unheld(finding, kernel)
    if not missing and otherwise_built and finding.severity in _LOUD:
        return _of_build(finding, otherwise_built[0].instead_of)
    if not missing:
        asked = [it for it in others if it.about in (None, finding.code) and not it.of_text]
        is_loud = all((finding.code, _place(finding)) in it.loud for it in asked)
        quieter = Severity.WARNING if is_loud else Severity.INFORMATION
        return replace(finding, severity=quieter if finding.severity in _LOUD else finding.severity)
    condition = " and ".join(missing[:2])
    shapes = [it for it in others if not it.invented and not it.of_text]
    is_rare = sum(1 for it in lost if not it.invented) > len(shapes) / 2
    invented = bool(tables) or is_rare or any(it.invented for it in lost)
    lowered = Severity.HINT if invented else Severity.INFORMATION
    return replace(
        finding,
        severity=Severity.HINT if finding.severity is Severity.HINT else lowered,
        holds="if",
        condition=condition,
        message=f"if {condition} (guessed): {finding.message}",
    )


def _of_build(finding: Finding, condition: str) -> Finding:
    """Return a finding that is none where the build sets macros to other values than the file's own."""
    message = f"if {condition}: {finding.message}"
    return replace(finding, severity=Severity.INFORMATION, holds="if", condition=condition, message=message)


def _guessed_tables(finding: Finding, kernel: KernelAnalysis) -> list[str]:
    """Return the buffers whose contents were guessed and choose the addresses that a finding is about."""
    indirect = finding.data.get("indirect")
    names = indirect if isinstance(indirect, list) and "per_request" in finding.data else []
    inferred = kernel.launch.inferred if kernel.launch is not None else frozenset()
    known = [it.name for it in finding.rests_on if it.kind == "contents" and it.origin == GUESSED]
    return list(dict.fromkeys([*(it for it in names if it in inferred), *known]))


def _unheld(finding: Finding, kernel: KernelAnalysis) -> Finding | None:
    """Return a finding whose guesses were not varied; `None` of an array that is large for a guess."""
    is_size = finding.code == _PRIVATE_RULE and finding.data.get("by_size") is True
    if is_size and any(it.role == "constant" and it.value is not None for it in kernel.guesses):
        return None
    return _untried(finding)


def _untried(finding: Finding) -> Finding:
    """Return a finding whose guesses were not varied: what it says holds on one launch."""
    severity = Severity.HINT if finding.severity is Severity.HINT else Severity.INFORMATION
    return replace(finding, severity=severity, holds="on this launch")


def _guesses_local_memory(kernel: KernelAnalysis) -> bool:
    """Tell whether the size of the kernel's local memory follows from guesses."""
    from clmap_lsp.launch.model import LocalArgument

    launch = kernel.launch
    if launch is None or kernel.guesses:
        return True
    return any(
        isinstance(it, LocalArgument) and name in launch.inferred for name, it in launch.arguments.items()
    )
