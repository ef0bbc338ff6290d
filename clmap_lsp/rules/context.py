"""What a rule may look at."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from clmap_lsp import defaults
from clmap_lsp.dataclass import dataclass
from clmap_lsp.index.verdict import edits, errors
from clmap_lsp.lazy import lazy_property
from clmap_lsp.rules.causes import hides_its_names

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import AccessAnalysis, FileAnalysis, KernelAnalysis
    from clmap_lsp.devices.model import DeviceModel
    from clmap_lsp.emulator.result import EmulationResult
    from clmap_lsp.findings import Finding
    from clmap_lsp.index.index import Index, PlacedIssue
    from clmap_lsp.rules.meta import RuleMeta
    from clmap_lsp.rules.suppress import SuppressedCode, Suppression
    from clmap_lsp.source.ir import Problem
    from clmap_lsp.source.program import Program
    from clmap_lsp.source.span import Span


@dataclass(frozen=True, slots=True)
class UnusedSuppression:
    """A suppression comment, or one code in it (`code` set), that silences nothing."""

    comment: Suppression
    code: SuppressedCode | None
    reason: str


_FOR_CPUS = re.compile(r"(?i)(?:^|[_.-])cpu(?:[_-][^/\\]*)?\.\w+$")
"""`nonbonded_cpu.cl`, beside one for GPUs."""


def is_switched_off(kernel: KernelAnalysis, device: DeviceModel) -> bool:
    """Tell whether guesses leave next to none of a kernel's work-items anything to do."""
    from clmap_lsp.analysis.active import active_part, guesses_a_size
    from clmap_lsp.rules.thresholds import ACTIVE_FROM

    return guesses_a_size(kernel) and active_part(kernel, device) < ACTIVE_FROM


@dataclass(frozen=True)
class RuleContext:
    """One file with everything that is known about it.

    `emulations` holds the emulator's result of each kernel that was run, by name; `None` means that no kernel
    was to be run. `unused` is filled in for the rule about suppressions, which is
    checked last.
    """

    program: Program
    analysis: FileAnalysis
    emulations: Mapping[str, EmulationResult] | None = None
    not_emulated: Mapping[str, str] = field(default_factory=dict)
    """Why launches could not be run in the emulator, by kernel."""
    crashed: Mapping[str, str] = field(default_factory=dict)
    """How the emulator's process ended in the middle of a kernel, by kernel."""
    unused: tuple[UnusedSuppression, ...] = field(default=())
    index: Index | None = None
    """What the text declares and what a compiler would refuse; `None` where only faults are judged."""
    standard: str = defaults.STANDARD
    """The OpenCL C version that the file is built for, as `-cl-std`."""
    set_by_build: frozenset[str] = frozenset()
    """Macros that options, settings or host code define."""
    is_standard_open: bool = False
    """Nobody says which one that is: neither options nor settings nor host code."""

    def kernels(self) -> Iterator[KernelAnalysis]:
        """Yield the kernels that were analysed, in source order."""
        yield from self.analysis.kernels

    def judged_kernels(self) -> Iterator[KernelAnalysis]:
        """Yield the kernels of which figures say something.

        Not those that guesses keep from running, nor on a GPU those of a file that is for CPUs by its name.
        """
        device = self.analysis.device
        if (
            device.simd_width > 1
            and device.has_scratchpad is not False
            and _FOR_CPUS.search(self.analysis.path)
        ):
            return
        for kernel in self.analysis.kernels:
            if not is_switched_off(kernel, device):
                yield kernel

    def accesses(self) -> Iterator[tuple[KernelAnalysis, AccessAnalysis]]:
        """Yield every access of every kernel."""
        for kernel in self.analysis.kernels:
            for access in kernel.accesses:
                yield kernel, access

    @lazy_property
    def refused(self) -> list[PlacedIssue]:
        """What a compiler would refuse, unless a file that is not found may be the reason."""
        if self.index is None:
            return []
        return refused_of(self.program, self.index, is_standard_open=self.is_standard_open)

    def doubts(self, code: str) -> list[PlacedIssue]:
        """Return what compilers warn of, or only some refuse."""
        found = [] if self.index is None else [it for it in self.index.issues if it.issue.code == code]
        if self.index is None or not found or hides_its_names(self.program):
            return []
        return [] if is_part(self.program, self.index) else found

    def needs_generic(self) -> list[PlacedIssue]:
        """Return the pointers that only meet where they are generic, as in OpenCL C 2.0 and 3.0."""
        if self.index is None or not self.is_standard_open or hides_its_names(self.program):
            return []
        return [it for it in errors(self.index) if _meets_where_generic(it)]

    def problems(self, rule: RuleMeta) -> Iterator[Problem]:
        """Yield the source problems that a rule reports, but none that follow from a compiler's error."""
        return self.not_following([it for it in self.program.problems if it.code in rule.problems])

    def not_following(self, found: list[Problem]) -> Iterator[Problem]:
        """Yield those of some problems that do not follow from a compiler's error."""
        refused = self.refused if found else []
        if self.index is None or not refused:
            yield from found
            return
        places = {(it.span.path, it.span.start) for it in refused}
        units = dict.fromkeys((it.unit.start, it.unit.end) for it in refused)
        hurt = [self.index.cover(start, end) for start, end in units]
        for it in found:
            is_same = it.code == "syntax-error" or (it.span.path, it.span.start) in places
            is_inside = it.code in FOLLOWING and any(_is_within(it.span, span) for span in hurt)
            if not is_same and not is_inside:
                yield it


def refused_of(program: Program, index: Index, *, is_standard_open: bool = False) -> list[PlacedIssue]:
    """Return what a compiler would refuse a program for, where all of its text is known.

    Where nobody says which OpenCL C it is written in, it may be 2.0: pointers are generic there.
    """
    if hides_its_names(program) or is_part(program, index):
        return []
    from clmap_lsp.source.embedded import is_host

    found = errors(index)
    if program.guesses:  # What defines the text's names declares its functions, too.
        found = [it for it in found if it.issue.code != "declared-below"]
    if found and is_host(index.path):
        found = [it for it in found if not _is_of_two_programs(it) and not _is_left_to_another(it)]
    if not is_standard_open:
        return found
    return [it for it in found if it.issue.code != "until-2.0" and not _meets_where_generic(it)]


def _is_of_two_programs(it: PlacedIssue) -> bool:
    """Tell whether a kernel or a type of a host's strings is defined again: by another string's program."""
    return it.issue.code == "redefinition" and not it.issue.notes


_INCOMPLETE = re.compile(r"incomplete type '(?:struct|union|enum) \w+'")


def _is_left_to_another(it: PlacedIssue) -> bool:
    """Tell whether a type has no members here: another string has, put before this one when it is built."""
    return _INCOMPLETE.search(it.issue.message) is not None


def _meets_where_generic(it: PlacedIssue) -> bool:
    """Tell whether a pointer is refused that OpenCL C 2.0 takes: one that names no space."""
    said = it.issue.message
    is_pointer = it.issue.code == "address-space" and "changes address space of pointer" in said
    return is_pointer and "__private " in said and "__constant" not in said


_NAME = re.compile(r"\w+")
_BEFORE = re.compile(r"(?<!\w)[A-Za-z_]\w*$")


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def is_part(program: Program, index: Index) -> bool:
    """Tell whether a file without kernels is read after others that define what it uses: macros, structures.

    Such a macro stands where the grammar takes no name, and is spelt as macros are.
    """
    if program.kernels:
        return False
    if any(it.issue.code == "incomplete-type" for it in index.issues):
        return True
    defined = {it.name for it in index.macros}
    for it in index.issues:
        if it.issue.code != "syntax-error":
            continue
        text = index.files[it.span.path].text if it.span.path in index.files else ""
        own = _NAME.match(text, it.span.start, it.span.end)
        before = text[max(it.span.start - 80, 0) : it.span.start].rstrip(" \t")
        names = [own[0]] if own is not None else []
        if _is_word(before[-1:]) and (found := _BEFORE.search(before)) is not None:
            names.append(found[0])
        if any(name.isupper() and name not in defined for name in names):
            return True
    return False


FOLLOWING = frozenset({"unknown-function", "unsupported", "internal-error"})
"""Problems that tell nothing new of a function that does not compile."""


def _is_within(span: Span, outer: Span) -> bool:
    return span.path == outer.path and outer.start <= span.start <= outer.end


_HELPED = frozenset(
    {
        "found-include",
        "several-programs",
        "syntax-error",
        "template-text",
        "undefined-name",
        "unknown-function",
        "unknown-length",
        "unsupported",
    }
)
"""Problems that the reader got around by a guess, where they are information."""


def from_problem(rule: RuleMeta, problem: Problem) -> Finding:
    """Turn a problem of the source into a finding.

    Its own severity is kept, but what only says how the reader helped itself is a hint: files of a program
    that is built with options are full of it, and reports name the guesses once for all.
    """
    from clmap_lsp.findings import Related, Severity

    related = tuple(Related(span, message) for span, message in problem.related)
    helped = problem.code in _HELPED and problem.severity is Severity.INFORMATION
    severity = Severity.HINT if helped else problem.severity
    return rule.finding(problem.span, problem.message, severity=severity, related=related)


def from_issue(rule: RuleMeta, index: Index, it: PlacedIssue, *, unnecessary: bool = False) -> Finding:
    """Turn what the index found wrong into a finding, with the edit that mends it if there is one."""
    from clmap_lsp.findings import Edit, Fix, FixSafety, Related

    changed = edits(index, it)
    fix = None
    if it.issue.fix is not None and changed:
        made = tuple(Edit(edit.span, edit.text) for edit in changed)
        fix = Fix(it.issue.fix.title, FixSafety.UNSAFE, made, assumptions=("this is what was meant",))
    related = tuple(
        Related(index.cover(it.unit.start + at, it.unit.start + at + 1), said)
        for at, said in it.issue.notes
        if at >= 0
    )
    return rule.finding(
        it.span,
        it.issue.message,
        severity=it.issue.severity,
        related=related,
        fix=fix,
        unnecessary=unnecessary,
    )
