"""A file that was opened: everything that is known of it, worked out when it is asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from functools import partial
from typing import TYPE_CHECKING

from clmap_lsp.analysis.launching import LaunchSources, launch_of
from clmap_lsp.dataclass import dataclass
from clmap_lsp.defaults import DEVICE
from clmap_lsp.errors import UsageError
from clmap_lsp.index.verdict import broken_functions
from clmap_lsp.launch.model import Origin
from clmap_lsp.launch.problem import LaunchError, LaunchProblem
from clmap_lsp.lazy import lazy_property
from clmap_lsp.source.left_alone import rests_on_none, words_of_directives
from clmap_lsp.source.span import SourceFile, Span
from clmap_lsp.workbench.hosts import HostFacts
from clmap_lsp.workbench.records import RECORDED_RULES, held_against_times
from clmap_lsp.workbench.timing import TIMED_RULES, Times, with_time_lost

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import FileAnalysis, KernelAnalysis
    from clmap_lsp.analysis.session import AnalysisSession
    from clmap_lsp.compiled.summary import CompiledKernel
    from clmap_lsp.config import Settings
    from clmap_lsp.devices import DeviceModel
    from clmap_lsp.emulator.result import EmulationResult
    from clmap_lsp.emulator.settings import EmulationSettings
    from clmap_lsp.findings import Finding, Fix
    from clmap_lsp.fixes.model import Subject, Verified
    from clmap_lsp.index.index import Index
    from clmap_lsp.launch.model import Launch
    from clmap_lsp.launch.partial import PartialLaunch
    from clmap_lsp.rules.memory import KernelFindings
    from clmap_lsp.rules.selection import Selection
    from clmap_lsp.source.ir import Kernel
    from clmap_lsp.source.program import Program
    from clmap_lsp.time.model import Prediction
    from clmap_lsp.workbench.other_launches import OtherLaunches


_FROM_HOST = frozenset({Origin.HOST, Origin.HOST_DEFAULT})


_PADDING = re.compile(
    r"^[ \t]*#[ \t]*ifndef[ \t]+(\w*PAD\w*)[ \t]*\r?\n[ \t]*#[ \t]*define[ \t]+\1[ \t]+0\b", re.MULTILINE
)
_DIRECTIVE = re.compile(r"^[ \t]*#.*", re.MULTILINE)

Reread = Callable[[tuple[tuple[str, str], ...]], "Program"]
"""Reads the file's text again with more macros defined."""


@dataclass(frozen=True, slots=True)
class Runs:
    """What the emulator made of the kernels of a file, by name."""

    done: Mapping[str, EmulationResult] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    """Why a launch could not be run, in one line."""


@dataclass(frozen=True, slots=True)
class Rewritten:
    """Findings with the rewrites that answer them."""

    findings: tuple[Finding, ...]
    rewrites: tuple[tuple[str, Fix], ...]
    """Those that pay, each with its kernel, the best of a kernel first."""
    untried: tuple[tuple[str, int], ...]
    """Kernels with the number of rewrites that were left when what they may take together was spent."""


class OpenedFile:
    """One file under one set of settings. Made by `Workbench.open_text`."""

    def __init__(
        self,
        program: Program,
        settings: Settings,
        device: DeviceModel,
        sources: LaunchSources,
        session: AnalysisSession,
        memory: KernelFindings | None = None,
        only: str | None = None,
        facts: HostFacts | None = None,
        read: Callable[[], Index] | None = None,
        reread: Reread | None = None,
        times: Times | None = None,
        others: OtherLaunches | None = None,
    ) -> None:
        self._read = read
        self.program = program
        self.settings = settings
        self.device = device
        self.sources = sources
        self._session = session
        self._memory = memory
        self._only = only
        self.facts = facts or HostFacts()
        self._reread = reread
        self._times = times or Times()
        self.on_kernel: Callable[[KernelAnalysis], None] | None = None
        """Called with each kernel as soon as it is analysed."""
        self.on_begin: Callable[[str], None] | None = None
        """Called with the name of each kernel before it is run, and before its rewrites are tried."""
        self._others = others
        self.is_judged = True
        """Whether the last findings were held against all other plausible launches."""
        self._rereadings: dict[tuple[tuple[str, str], ...], Program] = {}

    def with_program(self, program: Program) -> OpenedFile:
        """Return it with a program that was made from its own."""
        return OpenedFile(
            program,
            self.settings,
            self.device,
            self.sources,
            self._session,
            self._memory,
            self._only,
            self.facts,
            times=self._times,
        )

    @lazy_property
    def index(self) -> Index | None:
        """What the text declares and uses; `None` for a program that was not read from a text."""
        return None if self._read is None else self._read()

    @lazy_property
    def analysis(self) -> FileAnalysis:
        """The kernels with their accesses and costs; of those that do not compile nothing is said."""
        return self._session.analyse(
            self.program,
            self.device,
            self.sources,
            options=self.settings.build,
            only=self._only,
            without=self._broken(),
            on_kernel=self.on_kernel,
        )

    def _broken(self) -> frozenset[str]:
        """Return the functions that do not compile."""
        if self.index is None:
            return frozenset()
        from clmap_lsp.rules.context import refused_of

        refused = refused_of(self.program, self.index, is_standard_open=self.is_standard_open)
        return broken_functions(self.index, refused)

    @property
    def is_standard_open(self) -> bool:
        """Nobody says which OpenCL C it is; host code that builds it without saying so does."""
        build = self.settings.build
        return build.standard is None and not any(it.build_options for it in self.facts.launches.values())

    # ------------------------------------------------------------------------------------------- findings

    def findings(
        self, selection: Selection, runs: Runs | None = None, *, predicts: bool = True, waits: bool = True
    ) -> tuple[Finding, ...]:
        """Return what the selected rules say.

        Args:
            runs: where the kernels ran, for the rules about faults.
            predicts: work out predicted times that are not known yet; editors show findings before.
            waits: work out what holds on other launches of large kernels; the same, and `is_judged` tells.
        """
        return self.findings_of(self.analysis, selection, runs, predicts=predicts, waits=waits)

    def findings_of(
        self,
        analysis: FileAnalysis,
        selection: Selection,
        runs: Runs | None = None,
        *,
        predicts: bool = True,
        waits: bool = True,
    ) -> tuple[Finding, ...]:
        """Return what the selected rules say of the kernels of an analysis, which need not be all."""
        from clmap_lsp.rules.context import RuleContext
        from clmap_lsp.rules.runner import run

        done, refused = (runs.done, runs.refused) if runs is not None else (None, {})
        standard = self.settings.build.language
        context = RuleContext(
            self.program,
            analysis,
            done,
            refused,
            index=self.index,
            standard=standard,
            set_by_build=self._set_by_build,
            is_standard_open=self.is_standard_open,
        )
        said = run(context, selection, self._memory)
        if not said:
            self.is_judged = True
            return ()
        times = self.times(analysis, waits=predicts)
        found = self._judged(said, analysis, selection, times, waits=waits, compiles=predicts)
        return tuple(self._with_host_line(it, analysis) for it in found) if self.facts.launches else found

    def times(
        self, analysis: FileAnalysis | None = None, *, waits: bool = True
    ) -> Mapping[str, Prediction | str]:
        """Return how long each kernel's launch takes on the device, or why nobody can tell; by name.

        Empty where the device has no timing facts. Without `waits`, of those alone that are known already.
        """
        from clmap_lsp.time.facts import time_facts

        if time_facts(self.device.id) is None:
            return {}
        found: dict[str, Prediction | str] = {}
        for kernel in (analysis or self.analysis).kernels:
            known = self._times.known(kernel, self.device)
            if known is None and waits:
                known = self._times.of(kernel, self.device, self.program.constants)
            if known is not None:
                found[kernel.name] = known
        return found

    def learns(self, selection: Selection) -> bool:
        """Work out what an editor shows later, times and what compilers leave; tells whether it is news."""
        from clmap_lsp.workbench.compiling import compiles_more

        known = self._times.n_made
        findings = self.findings(selection, predicts=False, waits=False)
        is_news = compiles_more(findings, self.analysis.kernels, self.device, self.program.constants)
        if self.times():
            asking = TIMED_RULES | RECORDED_RULES
            concerned = {it.kernel for it in findings if it.code in asking}
            for kernel in self.analysis.kernels:
                if kernel.name in concerned:
                    self._times.enlarged(kernel, self.device, self.program.constants, waits=True)
        return self._times.n_made > known or is_news

    def compiled(self, name: str) -> CompiledKernel | str:
        """Return a kernel as the device's back end leaves it, or why that is not known."""
        from clmap_lsp.analysis.as_compiled import compiled_of

        kernel = next((it for it in self.analysis.kernels if it.name == name), None)
        if kernel is None:
            return f"there is no kernel {name}"
        return compiled_of(kernel.kernel, kernel.launch, self.device, self.program.constants)

    def _judged(
        self,
        findings: tuple[Finding, ...],
        analysis: FileAnalysis,
        selection: Selection,
        times: Mapping[str, Prediction | str],
        *,
        waits: bool,
        compiles: bool,
    ) -> tuple[Finding, ...]:
        """Say what findings rest on and lose; lower or drop what guesses, times and compilers deny."""
        from clmap_lsp.findings import Rest
        from clmap_lsp.rules.alike import together
        from clmap_lsp.rules.fpga import fpga_mark, lowered_for_fpga
        from clmap_lsp.workbench.compiling import as_compiled
        from clmap_lsp.workbench.holding import judged

        constants = self.program.constants
        defined = [Rest("macro", *it, Origin.HOST.value) for it in dict(self.facts.defines).items()]
        defined += [Rest("macro", *it, Origin.HOST_DEFAULT.value) for it in dict(self.facts.assumed).items()]
        judged_, self.is_judged = judged(
            findings,
            analysis.kernels,
            selection.rules(),
            self.device,
            defined,
            self._analysed_as,
            self._others,
            self._branches,
            self._paddings,
            self._text_defaults,
            waits=waits,
        )
        judged_ = together(judged_, analysis.kernels)
        if times:
            enlarged = partial(self._times.enlarged, device=self.device, constants=constants, waits=compiles)
            judged_ = with_time_lost(judged_, analysis.kernels, times, enlarged)
            judged_ = held_against_times(judged_, analysis.kernels, times, enlarged)
        judged_ = as_compiled(judged_, analysis.kernels, self.device, constants, waits=compiles)
        if self.device.id == DEVICE and (mark := fpga_mark(self.program)) is not None:
            judged_ = lowered_for_fpga(judged_, mark)
        return tuple(selection.graded(it) for it in judged_)  # What a person set is not lowered.

    @lazy_property
    def _set_by_build(self) -> frozenset[str]:
        return frozenset(name for name, _ in self.settings.build.defines)

    @lazy_property
    def _paddings(self) -> tuple[str, ...]:
        """Macros that pad arrays by 0 elements unless the build says otherwise, and it does not say."""
        found = _PADDING.findall(self.program.main_file.text)
        return tuple(it for it in dict.fromkeys(found) if it not in self._set_by_build)

    @lazy_property
    def _text_defaults(self) -> tuple[tuple[str, int], ...]:
        """Macros that the file defines as numbers unless the build says otherwise, and it does not say.

        0 and 1 are flags, or next to nothing.
        """
        from clmap_lsp.source.text_defaults import default_numbers

        found = default_numbers(self.program)
        names = found.keys() - self._set_by_build
        return tuple((name, value) for name, value in found.items() if value > 1 and name in names)

    @lazy_property
    def _branches(self) -> int:
        """What other macros would make of the file follows from its directives and inactive text as well."""
        text = self.program.main_file.text
        inactive = (
            self.program.files[it.path].text[it.start : it.end]
            for it in self.program.inactive
            if it.path in self.program.files
        )
        return hash((*_DIRECTIVE.findall(text), *inactive))

    def _read_as(self, name: str, macros: tuple[tuple[str, str], ...]) -> tuple[Program, Kernel] | None:
        """Return the file and a kernel in it as they are with other macros."""
        program = self.program
        if macros:
            if self._reread is None:
                return None
            if macros not in self._rereadings:
                self._rereadings[macros] = self._reread(macros)
            program = self._rereadings[macros]
        kernel = program.kernel(name)
        if kernel is None and (before := self.program.kernel(name)) is not None:
            # Its name may be put together from macros.
            same = (it for it in program.kernels if it.name_span.start == before.name_span.start)
            kernel = next(same, None)
        return None if kernel is None else (program, kernel)

    def _leave_alone(self, kernel: str, macros: frozenset[str]) -> bool:
        """Tell without a reading whether a kernel surely says the same with other values of macros."""
        if not rests_on_none(self.program, kernel, macros):
            return False
        return self._words_of_directives.isdisjoint(macros)

    @lazy_property
    def _words_of_directives(self) -> frozenset[str]:
        return words_of_directives(self.program, self.settings.build)

    def _is_other(self, name: str, program: Program, kernel: Kernel) -> bool:
        """Tell whether other macros change what a kernel says."""
        from clmap_lsp.analysis.content import ProgramContent

        before = self.program.kernel(name)
        if before is None or kernel is before:
            return before is None
        return ProgramContent(program).key(kernel) != ProgramContent(self.program).key(before)

    def _analysed_as(
        self, name: str, launch: PartialLaunch | None, macros: tuple[tuple[str, str], ...]
    ) -> KernelAnalysis | None:
        """Return the analysis of a kernel with another launch, or with other macros.

        None if these change nothing of it.
        """
        if macros and self._leave_alone(name, frozenset(it for it, _ in macros)):
            return None
        found_as = self._read_as(name, macros)
        if found_as is None or (macros and not self._is_other(name, *found_as)):
            return None
        program, name = found_as[0], found_as[1].name
        sources = self.sources if launch is None else replace(self.sources, given=launch)
        # What other macros change of a kernel shows in its content: one that they leave alone is known.
        build = self.settings.build
        found = self._session.analyse(
            program, self.device, sources, options=build, only=name, says_general=False
        )
        kernel = next((it for it in found.kernels if it.name == name), None)
        return kernel if kernel is not None and kernel.launch is not None else None

    def _with_host_line(self, finding: Finding, analysis: FileAnalysis) -> Finding:
        """Add the host code's line to a finding that rests on the launch that is made there."""
        host = self.facts.launches.get(finding.kernel or "")
        if host is None or finding.code.startswith("CM0") or host.host_file not in self.host_files:
            return finding
        kernel = next((it for it in analysis.kernels if it.name == finding.kernel), None)
        launch = kernel.launch if kernel is not None else None
        if launch is None or not _FROM_HOST.intersection(launch.origins.values()):
            return finding
        from clmap_lsp.findings import Related
        from clmap_lsp.hosts.wording import shape

        file = self.host_files[host.host_file]
        start = file.offset(host.host_row, 1)
        line = file.text[start : file.offset(host.host_row + 1, 1)].rstrip()
        indent = len(line) - len(line.lstrip())
        span = Span(file.path, start + indent, start + len(line))
        said = launch.sizes
        if launch.inferred & {"global", "local"}:
            said = f"{shape(host)}; taken as {said}"
        related = Related(span, f"`{host.kernel}` is launched here: {said}")
        return replace(finding, related=(*finding.related, related))

    @lazy_property
    def host_files(self) -> Mapping[str, SourceFile]:
        """The host files that launch its kernels, by path."""
        return {path: SourceFile.of(path, text) for path, text in self.facts.places.items()}

    @property
    def files(self) -> Mapping[str, SourceFile]:
        """All files that findings point into."""
        return {**self.program.files, **self.host_files}

    def with_fixes(
        self, findings: tuple[Finding, ...], runs: Runs | None = None, *, climbs: bool = False
    ) -> Rewritten:
        """Give findings the rewrites that answer them and that the emulator showed right.

        Args:
            climbs: look for rewrites of kernels without findings, too.
        """
        from clmap_lsp.fixes.allowance import Allowance
        from clmap_lsp.fixes.gain import pays, rank
        from clmap_lsp.fixes.matching import attached, offer_of

        rewrites: list[tuple[str, Fix]] = []
        untried: list[tuple[str, int]] = []
        for kernel in self.analysis.kernels:
            is_open = any(it.kernel == kernel.name and it.fix is None for it in findings)
            if kernel.launch is not None and (is_open or climbs):
                self._begin(kernel.name)
                allowance = Allowance.of(self.emulation_settings())
                subject = replace(self.subject(kernel, runs), allowance=allowance)
                found = sorted(self.offers(subject), key=lambda it: rank(*it))
                findings = attached(findings, kernel.name, [offer_of(subject, *it) for it in found])
                rewrites += [(kernel.name, fix) for verified, fix in found if pays(verified, fix)]
                if allowance.untried:
                    untried.append((kernel.name, len(allowance.untried)))
        return Rewritten(findings, tuple(rewrites), tuple(untried))

    # ---------------------------------------------------------------------------------- launches and runs

    def kernel(self, name: str | None) -> Kernel:
        """Return the kernel of a name, or the only one.

        Raises: UsageError if there is none, or the name is missing where there are several.
        """
        known = [it.name for it in self.program.kernels]
        if name is None and len(known) == 1:
            return self.program.kernels[0]
        if not known:
            raise UsageError(
                f"{self.program.path}: no kernel was understood in it; clmap-lsp check says what is wrong"
            )
        listed = ", ".join(known)
        if name is None:
            raise UsageError(f"say which kernel with --kernel NAME; there are: {listed}")
        found = self.program.kernel(name)
        if found is None:
            raise UsageError(f'{self.program.path}: no kernel "{name}"; there are: {listed}')
        return found

    def launch(self, kernel: Kernel) -> Launch:
        """Return the launch of a kernel.

        Raises: UsageError if it has none that can be used.
        """
        found = launch_of(self.program, kernel, self.sources)
        if isinstance(found, LaunchProblem):
            raise UsageError(str(found))
        return found

    def emulation_settings(self) -> EmulationSettings:
        """Return the device and the limits with which kernels run in the emulator."""
        from clmap_lsp.emulator.settings import EmulationSettings

        limits = self.settings.emulate
        return EmulationSettings(
            device=self.device, time_limit_s=limits.time_limit_s, memory_limit_mib=limits.memory_limit_mib
        )

    def run(
        self, kernel: Kernel, launch: Launch, settings: EmulationSettings | None = None
    ) -> EmulationResult | LaunchProblem:
        """Run a launch in the emulator; a launch that cannot be run as it is gives the reason."""
        from clmap_lsp.emulator.budget import WORK_PER_S
        from clmap_lsp.emulator.roomier import enlarged, supposing_lengths, with_room
        from clmap_lsp.emulator.run import emulate
        from clmap_lsp.workbench.fault_grounds import beside_unknown, few_steps, with_grounds

        limits = settings or self.emulation_settings()
        few = few_steps(limits)

        def run_within(it: Launch, work: float) -> EmulationResult:
            return emulate(self.program, kernel, it, replace(limits, max_work=work))

        try:
            budget = min(limits.time_limit_s * WORK_PER_S, limits.max_work)
            result = with_room(kernel, launch, run_within, budget)
        except LaunchError as error:
            return error.at(launch.source or "the launch")
        result = beside_unknown(kernel, result)
        if not result.faults or not (launch.inferred or kernel.guesses):
            return result

        def run_defined(macros: tuple[tuple[str, str], ...]) -> EmulationResult | None:
            found = self._read_as(kernel.name, macros)
            other = None if found is None else launch_of(*found, self.sources)
            if found is None or other is None or isinstance(other, LaunchProblem):
                return None
            return supposing_lengths(other, emulate(*found, other, few))

        def run(other: Launch) -> EmulationResult:
            return supposing_lengths(other, emulate(self.program, kernel, other, few))

        roomy = enlarged(launch, result.enlarged)
        return with_grounds(kernel, roomy, result, run, run_defined)

    def _begin(self, kernel: str) -> None:
        if self.on_begin is not None:
            self.on_begin(kernel)

    def run_all(self) -> Runs:
        """Run every kernel that has a launch, within the limits of the settings."""
        done: dict[str, EmulationResult] = {}
        refused: dict[str, str] = {}
        for it in self.analysis.kernels:
            if it.launch is None:
                continue
            self._begin(it.name)
            result = self.run(it.kernel, it.launch)
            if isinstance(result, LaunchProblem):
                refused[it.name] = str(result)
            else:
                done[it.name] = result
        return Runs(done, refused)

    # ---------------------------------------------------------------------------------------------- fixes

    def subject(self, kernel: KernelAnalysis, runs: Runs | None = None) -> Subject:
        """Return a kernel as what rewrites are made for: on a launch of a real size, where nothing is known.

        A kernel that showed faults stays with the launch that it showed them on.
        """
        from clmap_lsp.emulator.roomier import enlarged
        from clmap_lsp.fixes.model import Subject

        emulation = None if runs is None else runs.done.get(kernel.name)
        if emulation is not None and emulation.enlarged and kernel.launch is not None:
            kernel = replace(kernel, launch=enlarged(kernel.launch, emulation.enlarged))
        if emulation is None or not emulation.faults:
            kernel = self._enlarged(kernel)
        host = self.facts.diff_of(kernel.name)
        build, siblings = self.settings.build, self._launch_of
        return Subject(self.program, kernel, self.device, build, emulation, host=host, siblings=siblings)

    def _launch_of(self, kernel: str) -> Launch | None:
        """Return the launch of a kernel that is not the one asked about; options are not meant for it."""
        from clmap_lsp.launch.roomy import roomy

        known = self.program.kernel(kernel)
        found = None if known is None else launch_of(self.program, known, replace(self.sources, given=None))
        if known is None or found is None or isinstance(found, LaunchProblem):
            return None
        return roomy(known, found) or found

    def _enlarged(self, kernel: KernelAnalysis) -> KernelAnalysis:
        """Return a kernel on a launch of a real size, if its own is a guess and the larger one is counted."""
        from clmap_lsp.analysis.kernel import analyse_kernel
        from clmap_lsp.launch.roomy import roomy

        larger = None if kernel.launch is None else roomy(kernel.kernel, kernel.launch)
        if larger is None:
            return kernel
        constants = self.program.constants
        found = analyse_kernel(
            kernel.kernel, larger, kernel.launch_problems, self.device, constants, says_general=False
        )
        return found if found.totals.complete or not kernel.totals.complete else kernel

    def offers(
        self, subject: Subject, settings: EmulationSettings | None = None
    ) -> Iterator[tuple[Verified, Fix]]:
        """Yield the rewrites of a kernel that the emulator showed right."""
        from clmap_lsp.fixes.offer import offers

        yield from offers(subject, settings or self.emulation_settings())
