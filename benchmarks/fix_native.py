"""Fixes run natively: original and rewritten kernel on PoCL, on launches of the fix's family.

    python -m benchmarks.fix_native FOLDER...      public kernels: coverage, and right or wrong
    python -m benchmarks.fix_native --own [N]      kernels of our own: loop forms, bodies, guards, pointers
    python -m benchmarks.fix_native --awkward      kernels that lead rewrites astray, on launches of their own

Every file runs in a process of its own, so that a crash of one is one result. With `--json FILE` the figures
are written there, too.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import awkward

MEMORY = frozenset({"CM101", "CM102", "CM103", "CM104", "CM201", "CM401", "CM403"})
PLAIN = frozenset({"qualify-pointers"})
AWKWARD = "awkward: "
DEVICE = "nvidia-h200"
"""One whose times are known: on others nothing is offered that is a matter of time."""
MEMBERS = 5
"""Launches of the family that each fix is run on natively, besides its own."""
SECONDS_A_FILE = 400
"""Of processor time, so that a busy machine gives an idle one's figures; of the clock five times that."""


@dataclass
class Figures:
    """What one kernel gave."""

    file: str
    kernel: str
    findings: list[str] = field(default_factory=list)
    matters: list[str] = field(default_factory=list)
    """The findings that are no hints: they lose something of a launch's time, or nobody knows its time."""
    fixes: list[str] = field(default_factory=list)
    """Kinds beyond `const` and `restrict`."""
    unpaid: list[str] = field(default_factory=list)
    """Kinds that were right, and do not pay on this launch."""
    safe: int = 0
    runs: int = 0
    wrong: list[str] = field(default_factory=list)
    uncompiled: list[str] = field(default_factory=list)
    warned: list[str] = field(default_factory=list)
    """New warnings of `clang -Wall -Wextra`."""
    uncompared: list[str] = field(default_factory=list)
    """Fixes that were run beside the original on no launch, and why."""
    undefined: list[str] = field(default_factory=list)
    """Launches on which the original itself gave no defined result."""
    crashed: str = ""
    no_launch: str = ""
    origin: str = ""
    """Where its launch came from."""
    declined: list[str] = field(default_factory=list)


def main() -> int:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--own", nargs="?", const=200, type=int, default=0)
    parser.add_argument("--skip", type=int, default=0, help="leave out so many of our own or awkward ones")
    parser.add_argument("--awkward", nargs="?", const="", help="only those whose name contains a text")
    parser.add_argument("--half", type=int, choices=(0, 1), help="every other file of each folder")
    parser.add_argument("--every", type=int, default=1, help="one of so many of those, no public ones")
    parser.add_argument("--count-only", action="store_true", help="what is on offer; run nothing natively")
    parser.add_argument("--memory-only", action="store_true", help="only kernels with a memory finding")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after so many")
    parser.add_argument("-D", dest="defines", action="append", default=[])
    args = parser.parse_args()
    if args.awkward is not None:
        texts = [(f"{AWKWARD}{name}", text) for name, text in awkward.kernels() if args.awkward in name]
        texts = texts[args.skip :: args.every]
        texts = texts if args.half is None else texts[args.half :: 2]
    elif args.own:
        texts = list(_own(args.own))[args.skip :: args.every]
    else:
        texts = list(_public(args.folders, args.half))
    defines = tuple((it.partition("=")[0], it.partition("=")[2] or "1") for it in args.defines)
    found: list[Figures] = []
    asked = Asked(args.count_only, args.memory_only)
    end = time.monotonic() + args.seconds
    for name, text in texts:
        if time.monotonic() > end:
            break
        mine = _apart(name, text, defines, asked)
        found += mine
        for it in mine:
            for problem in (*it.wrong, *it.uncompiled, *([it.crashed] if it.crashed else [])):
                print(f"{name}: {it.kernel}: {problem}", file=sys.stderr)
        if args.json:
            args.json.write_text(json.dumps([asdict(it) for it in found], indent=1))
    _print(found)
    return 1 if any(it.wrong or it.crashed or it.uncompiled for it in found) else 0


def _print(found: Sequence[Figures]) -> None:
    memory = [it for it in found if it.findings]
    fixed = [it for it in memory if it.fixes]
    launched = [it for it in found if not it.no_launch]
    without = [it for it in found if it.no_launch]
    print(f"\n{len(without)} kernels without a launch")
    for it in without[:20]:
        print(f"  {it.file}: {it.kernel}: {it.no_launch[:200]}")
    print(f"{len(launched)} kernels; {len(memory)} with a memory finding, {len(fixed)} of these with a fix")
    matters = [it for it in memory if it.matters]
    gained = sum(bool(it.fixes) for it in matters)
    print(f"{len(matters)} with one that is no hint, {gained} of these with a fix")
    fixes, safe = sum(len(it.fixes) for it in found), sum(it.safe for it in found)
    print(f"{fixes} fixes beyond const and restrict, {safe} safe")
    print(f"{sum(it.runs for it in found)} native comparisons")
    for what in ("wrong", "uncompiled", "warned", "uncompared", "undefined"):
        mine = [(it, text) for it in found for text in getattr(it, what)]
        print(f"{what}: {len(mine)}")
        for it, text in mine[:20]:
            print(f"  {it.file}: {it.kernel}: {text}")
    crashed = [it for it in found if it.crashed]
    print(f"crashed: {len(crashed)}")
    for it in crashed[:20]:
        print(f"  {it.file}: {it.kernel}: {it.crashed}")
    print("by kind:", dict(Counter(kind for it in found for kind in it.fixes)))
    print("that do not pay:", dict(Counter(kind for it in found for kind in it.unpaid)))
    print("without a fix:")
    for it in memory:
        if not it.fixes:
            why = "; ".join(text for text in it.declined if not text.startswith("qualify-pointers"))
            print(f"  {Path(it.file).name}: {it.kernel} ({it.origin}; {' '.join(it.findings)}) {why[:300]}")


def _public(folders: Sequence[Path], half: int | None) -> Iterator[tuple[str, str]]:
    for folder in folders:
        paths = sorted(folder.rglob("*.cl"))
        for path in paths if half is None else paths[half::2]:
            yield str(path), path.read_text(errors="replace")


@dataclass(frozen=True)
class Asked:
    """What is left out."""

    count_only: bool = False
    memory_only: bool = False


def _apart(name: str, text: str, defines: tuple[tuple[str, str], ...], asked: Asked) -> list[Figures]:
    """Run one file in a process of its own."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_file, args=(name, text, defines, sender, asked))
    child.start()
    found: list[Figures] = []
    end = time.monotonic() + 5 * SECONDS_A_FILE
    current, done = "", False
    while time.monotonic() < end:
        if receiver.poll(0.2):
            try:
                it = receiver.recv()
            except EOFError:
                break
            if it is None:
                done = True
                break
            if isinstance(it, str):
                current = it
            else:
                found.append(it)
        elif not child.is_alive():
            break
    if not done:
        child.join(1)
        why = f"no end after {5 * SECONDS_A_FILE} s" if child.is_alive() else f"exit code {child.exitcode}"
        found.append(Figures(name, current, crashed=why))
    child.kill()
    child.join()
    return found


def _file(name: str, text: str, defines: tuple[tuple[str, str], ...], sender: Any, asked: Asked) -> None:
    import resource
    from dataclasses import replace

    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS_A_FILE, SECONDS_A_FILE + 5))

    from clmap_lsp.config import Settings
    from clmap_lsp.findings import Severity
    from clmap_lsp.rules.selection import Selection
    from clmap_lsp.source.options import BuildOptions
    from clmap_lsp.workbench import Workbench

    settings = replace(Settings(), build=BuildOptions(defines=defines), device=DEVICE)
    opened = Workbench().open_text(name, text, settings, reads_hosts=Path(name).is_file())
    findings = opened.findings(Selection.of(settings.rules.select, settings.rules.ignore))
    for kernel in opened.analysis.kernels:
        if kernel.launch is None:
            sender.send(Figures(name, kernel.name, no_launch="; ".join(map(str, kernel.launch_problems))))
            continue
        sender.send(kernel.name)
        mine = [it for it in findings if it.kernel == kernel.name and it.code in MEMORY]
        codes = sorted({it.code for it in mine})
        matters = sorted({it.code for it in mine if it.severity is not Severity.HINT})
        if asked.memory_only and not codes:
            sender.send(Figures(name, kernel.name, origin=kernel.launch.origin.value))
            continue
        subject, limits = opened.subject(kernel), opened.emulation_settings()
        found = _kernel(name, subject, limits, codes, asked.count_only)
        found.matters = matters
        sender.send(found)
    sender.send(None)


def _kernel(name: str, subject: Any, settings: Any, codes: list[str], count_only: bool) -> Figures:
    from clmap_lsp.fixes.defined import on_defined_launch
    from clmap_lsp.fixes.offer import NOTHING, survey
    from clmap_lsp.fixes.trials import Trials
    from clmap_lsp.fixes.verification import baseline
    from clmap_lsp.launch.problem import LaunchError

    figures = Figures(name, subject.analysis.name, codes, origin=subject.launch.origin.value)
    try:
        subject = baseline(subject, settings)
        found = survey(subject, settings)
    except LaunchError as error:
        figures.declined.append(f"launch: {error}")
        return figures
    if subject.emulation is not None and subject.emulation.faults:  # What it does natively may be to crash.
        subject = on_defined_launch(subject, settings) or subject
    trials = Trials(subject, settings)
    offered = set()
    for verified, fix in found.offers:
        offered.add(verified.proposal.edits)
        if verified.proposal.is_sketch:
            continue
        if verified.proposal.kind not in PLAIN:
            figures.fixes.append(verified.proposal.kind)
            figures.safe += fix.safety.value == "safe"
        if verified.proposal.cures is None and not count_only:
            _natively(figures, trials, verified)
    if name.startswith(AWKWARD):
        for verified in _that_do_not_pay(subject, settings, trials):
            if verified.proposal.edits not in offered:
                figures.unpaid.append(verified.proposal.kind)
                _natively(figures, trials, verified)
    figures.declined += [f"{it.kind}: {it.why}" for it in found.declined if not it.why.startswith(NOTHING)]
    return figures


def _that_do_not_pay(subject: Any, settings: Any, trials: Any) -> Iterator[Any]:
    """Yield what would be offered if it paid on the launch at hand: on another it may, and must be right."""
    from dataclasses import replace

    from clmap_lsp.fixes.model import Verified
    from clmap_lsp.fixes.offer import proposals
    from clmap_lsp.fixes.verification import verify

    for proposal in proposals(subject):
        if proposal.is_sketch or proposal.cures is not None:
            continue
        free = replace(proposal, lowers_traffic=False, least_gain=0.0, by_time=False)
        outcome = verify(subject, free, settings, trials)
        if isinstance(outcome, Verified):
            yield outcome


def _cases(trials: Any, verified: Any) -> Iterator[Any]:
    """Yield the launches that a fix is run on: home, some of the family, those that the text names."""
    proposal = verified.proposal
    tested = set(verified.tested_on)
    home = trials.home_for(proposal.assumptions)
    whole = _of_whole_numbers(trials.subject, home)
    family = [it for it in trials.members_for(proposal.assumptions) if it.text in tested - {home.text}]
    step = max(1, len(family) // MEMBERS)
    yield from (home, *([whole] if whole else []), *family[::step][:MEMBERS])
    if trials.subject.analysis.name == _first_of(trials.subject):
        yield from _named(trials)


def _first_of(subject: Any) -> str:
    return str(next(iter(subject.program.kernels)).name)


def _of_whole_numbers(subject: Any, home: Any) -> Any:
    """Return a launch whose floats are small integers, of which sums are exact in any order."""
    from dataclasses import replace

    from clmap_lsp.fixes.family import Member
    from clmap_lsp.launch.model import BufferArgument, Fill

    arguments = dict(home.case.launch.arguments)
    for parameter in subject.analysis.kernel.parameters:
        mine = arguments.get(parameter.name)
        floats = str(getattr(parameter.type, "pointee", "")).rstrip("0123456789") in ("float", "double")
        if floats and isinstance(mine, BufferArgument) and mine.fill in (Fill.RANDOM, Fill.ZEROS):
            arguments[parameter.name] = BufferArgument(Fill.FORMULA, mine.count, text="(i*37)%7-3")
    launch = replace(home.case.launch, arguments=arguments)
    if launch == home.case.launch:
        return None
    return Member(replace(home.case, launch=launch), f"{home.text}, whole numbers")


def _named(trials: Any) -> Iterator[Any]:
    """Yield the launches that an awkward kernel's text names, as far as it is defined on them."""
    from dataclasses import replace

    from clmap_lsp.analysis.session import AnalysisSession
    from clmap_lsp.fixes.assumptions import Case
    from clmap_lsp.fixes.family import Member
    from clmap_lsp.source.read import read_program

    subject = trials.subject
    first = next((it for it in subject.text.splitlines() if it.startswith("// clmap:")), "")
    if "// also:" not in subject.text:
        return
    for other in awkward.others(subject.text):
        options = replace(subject.options, defines=(*subject.options.defines, *other.defines))
        text = subject.text.replace(first, other.comment) if first else f"{other.comment}\n{subject.text}"
        program = read_program(text, subject.path, options)
        analysis = AnalysisSession().analyse(program, subject.device)
        kernel = next(it for it in analysis.kernels if it.name == subject.analysis.name)
        if kernel.launch is None:
            raise ValueError(f"no launch: {other.text}: {kernel.launch_problems}")
        case = Case(kernel.launch, options, other.shared)
        ran = trials.run(subject.text, subject.program, case)
        if ran is None or ran.faults:
            what = "not run" if ran is None else ran.faults[0].detail
            print(f"{subject.path}: {other.text}: the original is not defined: {what}", file=sys.stderr)
            continue
        yield Member(case, other.text)


def _natively(figures: Figures, trials: Any, verified: Any) -> None:
    """Run a fix beside its original on launches of the family: compared, or why not."""
    from benchmarks import clang, natively
    from clmap_lsp.fixes.edits import apply

    proposal, subject = verified.proposal, trials.subject
    after = apply(subject.text, proposal.edits, subject.path)
    figures.warned += [f"{proposal.title}: {it}" for it in clang.new_warnings(subject, after)]
    runs, why = figures.runs, "no launch fulfils what it assumes"
    for member in _cases(trials, verified):
        case = member.case
        if not all(it.holds(case) for it in proposal.assumptions):
            continue
        if proposal.relaunch is not None and len(case.launch.global_size) != len(subject.launch.global_size):
            continue  # What the host must change is said of as many dimensions as the launch at hand has.
        kernel = subject.read(subject.text, case.options).kernel(subject.analysis.name)
        types = [it.type for it in subject.analysis.kernel.parameters]
        if proposal.moves_data and [it.type for it in kernel.parameters] != types:
            continue  # How data move is said of elements as they are in the build at hand.
        one = _original(subject, member)
        if isinstance(one, str):
            why = f"the original does not build or run: {one}"
            continue
        if one.undefined:
            why = f"the original is not defined on {member.text}: {one.undefined}"
            figures.undefined.append(why)
            continue
        what = f"{proposal.title} ({proposal.safety.value}) on {member.text}"
        try:
            other = natively.outcome(after, subject, case, proposal.launched(case.launch))
            restored = proposal.restored(case.launch, other.buffers)
        except Exception as error:
            figures.uncompiled.append(f"{what}: {str(error)[:200]}")
            return
        figures.runs += 1
        reordered = proposal.reorders_sums
        wrong = other.undefined or natively.differs(one.buffers, restored, kernel, reordered=reordered)
        if wrong and (broken := _miscompiled(trials, member, one, kernel)):
            figures.undefined.append(
                f"PoCL and the emulator differ on the original on {member.text}: {broken}"
            )
        elif wrong:
            figures.wrong.append(f"{what}: {wrong}")
    if figures.runs == runs:
        figures.uncompared.append(f"{proposal.title}: {why}")


def _miscompiled(trials: Any, member: Any, native: Any, kernel: Any) -> str:
    """Return where PoCL's original differs from the emulator's, which then says nothing of a rewrite."""
    from benchmarks import natively

    ran = trials.run(trials.subject.text, trials.subject.program, member.case)
    if ran is None or ran.faults:
        return ""
    emulated = {name: it.data for name, it in ran.buffers.items()}
    return natively.differs(native.buffers, emulated, kernel, reordered=True)


_ORIGINALS: dict[tuple[str, str], Any] = {}


def _original(subject: Any, member: Any) -> Any:
    """Return what the original gives on a launch, run once for all fixes, or why it does not run."""
    from benchmarks import natively

    key = subject.analysis.name, f"{member.text}: {member.case}"
    if key not in _ORIGINALS:
        try:
            _ORIGINALS[key] = natively.outcome(subject.text, subject, member.case, member.case.launch)
        except Exception as error:
            _ORIGINALS[key] = str(error)[:200] or type(error).__name__
    return _ORIGINALS[key]


# ------------------------------------------------------------------------------------------- our own kernels

_HEADS = {
    "for": ("", "for (int k = 0; k < n; k++) {", "}"),
    "outer": ("int k;", "for (k = 0; k < n; k++) {", "}"),
    "at most": ("", "for (int k = 0; k <= n - 1; ++k) {", "}"),
    "while": ("int k = 0;", "while (k < n) {", "k++; }"),
    "down": ("", "for (int k = n - 1; k >= 0; k--) {", "}"),
}
_BODIES = {
    "product": "acc += a[row * n + k] * b[k * n + col];",
    "rows": "acc += a[row * n + k] * b[k];",
    "columns": "acc += a[k * n + row] * b[k];",
    "in memory": "out[row * n + col] += a[row * n + k] * b[k * n + col];",
    "scaled": "acc += a[row * n + k] / b[row * n];",
    "chosen": "acc += row < k ? a[row * n + k] : b[k];",
    "drifting": "acc += a[p + k] * b[k]; p += e;",
    "row pointer": "acc += ap[k] * b[k * n + col];",
}
_GUARDS = {
    "none": ("", ""),
    "return": ("if (row >= n || col >= n) return;", ""),
    "block": ("if (row < n && col < n) {", "}"),
    "variable": ("const bool ok = row < n && col < n; if (ok) {", "}"),
}
_POINTERS = {"plain": "", "restrict": "restrict"}


def _own(most: int) -> Iterator[tuple[str, str]]:
    """Yield kernels of our own: every loop form, body, guard, and pointers with and without `restrict`."""
    import itertools

    order = list(itertools.product(_BODIES, _GUARDS, _POINTERS, _HEADS))
    order.sort(key=hash_of)
    for count, (body, guard, pointer, head) in enumerate(order[:most]):
        before, start, end = _HEADS[head]
        opening, closing = _GUARDS[guard]
        promise = _POINTERS[pointer]
        size = 48 if guard == "none" else 45
        yield (
            f"{body}/{guard}/{pointer}/{head}",
            f"""\
// clmap: global=48,48 local=16,16 n={size} e=0 a=random(4096) b=random(4096,1) out=random(4096,2)
__kernel void own(__global const float *{promise} a, __global const float *{promise} b,
                  __global float *{promise} out, const int n, const int e)
{{
    const int row = get_global_id({count % 2});
    const int col = get_global_id({1 - count % 2});
    {opening}
    int p = row * n;
    __global const float *ap = a + row * n;
    float acc = p < 0 ? (float)e : ap[0];
    {before}
    {start}
        {_BODIES[body]}
    {end}
    out[row * n + col] = acc + out[row * n + col];
    {closing}
}}
""",
        )


def hash_of(words: Sequence[str]) -> str:
    """Return what shuffles the combinations, always alike."""
    import hashlib

    return hashlib.sha256("/".join(words).encode()).hexdigest()


if __name__ == "__main__":
    raise SystemExit(main())
