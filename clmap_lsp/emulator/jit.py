"""The JIT engine: machine code for one kernel, work-items one after the other, every access traced."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import field, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from clmap_lsp.dataclass import dataclass
from clmap_lsp.emulator import layout as at
from clmap_lsp.emulator.address_space import AddressSpaceMap, build, with_pointed_objects
from clmap_lsp.emulator.budget import ESTIMATE_AT, Executed, TimeBudget, WorkBudget, slice_steps
from clmap_lsp.emulator.context import CodeOptions
from clmap_lsp.emulator.kernel_code import KernelCode, generate
from clmap_lsp.emulator.library import (
    expand_function,
    rows_function,
    run_function,
    settle_function,
    symbols,
)
from clmap_lsp.emulator.machine_state import DENSE_PAIR_SLOTS, MachineState, plan_sizes
from clmap_lsp.emulator.memory_limit import room_left
from clmap_lsp.emulator.native.machine import Code, is_huge, load, optimising_s
from clmap_lsp.emulator.recorder import Recorder
from clmap_lsp.emulator.rendezvous import Divergence, resolve
from clmap_lsp.emulator.result import Limit, Seconds
from clmap_lsp.emulator.row_code import generate_rows
from clmap_lsp.emulator.sampling import Sample, choose
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.emulator.site_table import SiteInfo, site_table
from clmap_lsp.emulator.stride_tally import StrideTallies
from clmap_lsp.emulator.tally import AddressCounts, SiteTallies, expand_pairs
from clmap_lsp.emulator.well_typed import first_misfit
from clmap_lsp.launch.model import BufferArgument, Fill, Launch
from clmap_lsp.launch.null_arguments import with_null_arguments
from clmap_lsp.launch.problem import LaunchError, TooMuchMemoryError
from clmap_lsp.locality.definition import Definition
from clmap_lsp.locality.parallel import psl_norm
from clmap_lsp.source.ir import Kernel
from clmap_lsp.source.program import Program

_UNCOUNTED = 3
"""Operations that an access stands for where operations are not counted."""
_LEAST_GROUPS = 8
"""Launches of fewer work-groups are not sampled unless that is asked for."""
_UPGRADE_AFTER_S = 0.05
_UPGRADE_REST_S = 0.2
"""Optimised code is made for what would still take longer than this."""
_DENSE_SHARE = 0.75
"""Of the memory limit, what there may be with a counter for every address; beyond it they are listed."""
_ROWS_FROM = 1 << 17
"""Work-items from which on rows of them are run at once: making that code takes some 50 ms."""
_LEAST_ROW = 32
"""Work-items of a row that is worth it."""
_ROW_ITEMS = 1 << 14
"""Work-items that are run before the budget is looked at, at most; one row of groups at least."""
_OPTIMISING_BYTES = 64 << 20
"""Room that making it needs."""


@dataclass(slots=True)
class JitRun:
    """One launch, during and after its run."""

    program: Program
    kernel: Kernel
    launch: Launch
    settings: EmulationSettings
    code: KernelCode
    space: AddressSpaceMap
    state: MachineState
    sites: tuple[SiteInfo, ...]
    counts: AddressCounts
    tallies: SiteTallies
    machine_code: list[Code]
    strides: StrideTallies = field(default_factory=StrideTallies)
    stopped: Limit | None = None
    """The limit that it came to before its end."""
    divergences: list[Divergence] = field(default_factory=list)
    compile_s: float = 0.0
    inputs_s: float = 0.0
    run_s: float = 0.0
    metrics_s: float = 0.0
    notes: list[str] = field(default_factory=list)
    steps: int = 0
    is_plain: bool = False
    """Whether its code is never optimised, as that would take longer than it may run."""
    served: int = 0
    """How often it was sorted out who of those that wait may go on."""
    recorder: Recorder | None = None
    sample: Sample | None = None

    shapes: int = 0
    """Patterns of requests that were taken out of the tables."""
    earlier: Seconds = field(default_factory=lambda: Seconds(0.0, 0.0, 0.0))
    """Of a run of the launch that this one took the place of."""

    @property
    def seconds(self) -> Seconds:
        """What it took, with runs that it took the place of."""
        was = self.earlier
        return Seconds(
            self.compile_s + was.compile,
            self.run_s + was.run,
            self.metrics_s + was.metrics,
            self.inputs_s + was.inputs,
        )

    @property
    def may_be_sampled(self) -> bool:
        """True if some of its work-groups can be run in the place of all."""
        groups = int(self.state.words[at.GROUPS])
        return self.settings.may_sample and self.sample is None and groups >= _LEAST_GROUPS

    def unwritten_contents(self) -> dict[str, NDArray[np.uint8]]:
        """Return the bytes of the buffers that the kernel cannot have changed."""
        written = self.code.plan.written
        if written is None:
            return {}
        return {
            it.name: it.data
            for it in self.space.buffers
            if it.data is not None and it.plan.is_argument and it.plan.number not in written
        }

    @property
    def budget(self) -> WorkBudget:
        """The work that it may do."""
        settings = self.settings
        return WorkBudget.of_seconds(
            settings.time_limit_s,
            traced=settings.trace,
            most=settings.max_work,
            is_plain=self.is_plain,
        )

    @property
    def work(self) -> float:
        """What it has done of that."""
        words = self.state.words
        if self.settings.control:
            operations, accesses = int(words[at.OPERATIONS_SEEN]), int(words[at.MEMORY_SEEN])
        else:
            # A step runs part of the kernel: at most all of it, and a third on the average of many kernels.
            operations, accesses = self.steps * _operations(self.code) // _UNCOUNTED, 0
        groups = int(words[at.GROUP]) + 1
        per_group = int(words[at.LOCAL_BYTES]) + int(words[at.INIT_BYTES]) * self.launch.group_items
        return self.budget.spent(
            Executed(
                operations,
                accesses,
                turns=self.steps,
                starts=int(words[at.STEPS]),
                groups=groups,
                rows=int(words[at.SUB_ROWS]),
                matched=int(words[at.MATCHED_LANES]),
                matched_requests=int(words[at.MATCHED_REQUESTS]),
                shapes=self.shapes,
                sorted_lanes=int(words[at.SORTED_LANES]),
                strides=self.strides.counted,
                listed=self.counts.listed,
                cleared=groups * per_group,
                served=self.served,
                group_items=self.launch.group_items,
                in_rows=int(words[at.STEPS] - words[at.ROW_SLOW]) if words[at.ROW_GROUPS] else 0,
            )
        )

    @property
    def is_sampled(self) -> bool:
        """True if the figures are estimates for the launch from the groups that ended."""
        return self.sample is not None and self.sample.is_enough

    def group_number(self, ordinal: int) -> int:
        """Return the linear number of the group that ran in this place."""
        return ordinal if self.sample is None else self.sample.number(ordinal)

    @property
    def reads_out_of_bounds(self) -> bool:
        """True if any read was out of bounds."""
        return bool(self.state.fault_tally.reshape(-1, at.FAULT_KINDS)[:, at.FAULT_OOB_READ].any())

    @property
    def psl(self) -> NDArray[np.float64]:
        """Normed parallel spatial locality with 0 to 10 low bits dropped, shape (11,)."""
        reals = self.state.words.view(np.float64)
        groups = int(self.state.words[at.GROUP])
        norm = psl_norm(self.launch.group_items, self.settings.definition)
        if norm == 0 or groups == 0:
            return np.zeros(at.LEVELS)
        first = at.AIWC_TOTAL if self.settings.definition is Definition.AIWC else at.PSL
        return np.maximum(reals[first : first + at.LEVELS], 0.0) / groups / norm


def run(
    program: Program,
    kernel: Kernel,
    launch: Launch,
    settings: EmulationSettings,
    recorder: Recorder | None = None,
    *,
    follow_invalid: bool = False,
    contents: Mapping[str, NDArray[np.uint8]] = MappingProxyType({}),
) -> JitRun:
    """Compile and run one launch; a recorder gets every access.

    With `follow_invalid`, uses of values that were read out of bounds are faults too. `contents` are the
    bytes of buffer arguments that are made already.

    Raises: LaunchError if the launch cannot be run: arguments missing, over the memory limit, or a kernel
        that no compiler would take.
    """
    started = time.perf_counter()
    width = settings.device.simd_width if settings.device is not None else 32
    options = CodeOptions(
        contract=settings.contract,
        trace=settings.trace,
        races=settings.races,
        watch_global=settings.watch_global,
        exclusive=settings.exclusive,
        ordered=settings.ordered,
        uninitialised=settings.uninitialised,
        control=settings.control,
        sub_group_size=width,
        unwritten=_unwritten(launch),
        read_only=settings.read_only,
        write_only=settings.write_only,
        follow_invalid=follow_invalid,
        lockstep=settings.lockstep > 0,
    )
    kernel = with_null_arguments(with_pointed_objects(program, kernel), launch)
    code, machine_code = _compiled(program, kernel, options)
    compiled = time.perf_counter()
    job = _prepare(program, kernel, launch, settings, code, machine_code, width, contents)
    job.compile_s, job.inputs_s = compiled - started, time.perf_counter() - compiled
    job.recorder = recorder
    job.state.words[at.RECORD] = int(recorder is not None)
    try:
        _run(job)
    except MemoryError:
        if not job.may_be_sampled:
            raise
        job.stopped = Limit.MEMORY  # Its figures are not whole: a sample has to take its place.
    return job


_KEPT_KERNELS = 32
_KEPT_LOCK = threading.Lock()
_kept: OrderedDict[tuple[int, CodeOptions], tuple[Kernel, KernelCode, Code]] = OrderedDict()


def _compiled(program: Program, kernel: Kernel, options: CodeOptions) -> tuple[KernelCode, Code]:
    """Compile a kernel, or find it among those compiled last."""
    key = (id(kernel), options)
    with _KEPT_LOCK:
        found = _kept.get(key)
        if found is not None and found[0] is kernel:
            _kept.move_to_end(key)
            return found[1], found[2]
    misfit = first_misfit(kernel)
    if misfit is not None:
        line = program.position(misfit).row
        raise LaunchError(
            f"the kernel cannot run: types do not fit in line {line} of {misfit.path}",
            "correct it, or define the types in it: no compiler of OpenCL C takes it so",
        )
    code = generate(kernel, options)
    machine_code = load(code.text, ("kernel",), 0, symbols(options.sub_group_size))
    with _KEPT_LOCK:
        _kept[key] = (kernel, code, machine_code)
        if len(_kept) > _KEPT_KERNELS:
            _kept.popitem(last=False)
    return code, machine_code


def _unwritten(launch: Launch) -> frozenset[str]:
    return frozenset(
        name
        for name, it in launch.arguments.items()
        if isinstance(it, BufferArgument) and it.fill is Fill.NOINIT
    )


def _prepare(
    program: Program,
    kernel: Kernel,
    launch: Launch,
    settings: EmulationSettings,
    code: KernelCode,
    machine_code: Code,
    width: int,
    contents: Mapping[str, NDArray[np.uint8]],
) -> JitRun:
    limit = settings.memory_limit_mib << 20
    space = build(program, code.plan, launch, settings.local_addresses, limit, contents)
    sizes = plan_sizes(code, launch, space, settings, width)
    groups = int(np.prod([int(it) for it in launch.num_groups], dtype=object))
    sample = choose(groups, settings.sample_groups)
    dense = AddressCounts.dense_bytes(space.extents, code.plan.granule)
    total = sizes.total_bytes + sum(it.size for it in space.buffers)
    if total + dense > _DENSE_SHARE * limit:
        dense = 0
    total += dense
    if total > limit:
        raise TooMuchMemoryError(
            f"the launch needs about {total >> 20} MB, over the limit of {settings.memory_limit_mib} MB",
            "use a smaller launch or raise the memory limit",
        )
    if dense:
        sizes = replace(sizes, pair_slots=min(sizes.pair_slots, DENSE_PAIR_SLOTS))
    state = MachineState(code, launch, space, settings, sizes)
    state.words[at.KERNEL] = machine_code.addresses["kernel"]
    sites = site_table(code.plan)
    counts = AddressCounts(space.extents, code.plan.granule, is_dense=dense > 0, room=limit - total)
    if counts.dense is not None:
        state.words[at.CELL_STARTS] = counts.starts.ctypes.data
        state.words[at.CELLS] = counts.dense.ctypes.data
        state.words[at.CARRIES] = counts.carries.ctypes.data
    tallies = SiteTallies(sites, settings.device)
    if sample is not None:
        state.words[at.GROUPS] = len(sample.ids)
        state.words[at.GROUP_LIST] = sample.ids.ctypes.data
        state.words[at.GROUP_ROWS] = sample.records.ctypes.data
    job = JitRun(
        program, kernel, launch, settings, code, space, state, sites, counts, tallies, [machine_code]
    )
    job.sample = sample
    job.is_plain = is_huge(code.text) or optimising_s(code.text) >= settings.time_limit_s
    return job


def _run(job: JitRun) -> None:
    """Run to the end or to a budget."""
    words, address = job.state.words, job.state.address
    width = job.state.sizes.width
    native = rows_function(width) if _has_rows(job) else run_function(width)
    upgraded = False
    budget = TimeBudget(job.settings.time_limit_s)
    fuel = slice_steps(_operations(job.code))
    while True:
        words[at.FUEL] = fuel
        status = native(address)
        job.state.weigh()
        job.steps += max(fuel - int(words[at.FUEL]), 0)
        if status == at.FINISHED:
            break
        if status == at.FLUSH:
            flush(job)
        elif status == at.RECORDING and job.recorder is not None:
            job.recorder.take(job.state)
        elif status == at.STUCK:
            job.served += 1
            job.divergences.extend(resolve(job.state, job.code, job.kernel))
        left = budget.left()
        job.stopped = _reached(job, left)
        if job.stopped is not None:
            break
        if not upgraded and budget.used() > _UPGRADE_AFTER_S:
            upgraded = _upgrade(job, budget.used(), left)
    job.run_s = budget.by_the_clock() - job.metrics_s
    if job.sample is not None:
        job.sample.ended = int(words[at.GROUP])
    flush(job)


def _has_rows(job: JitRun) -> bool:
    """Make code for whole rows of work-items, if the kernel and the launch are so; tell whether they are."""
    launch, words = job.launch, job.state.words
    if launch.work_items < _ROWS_FROM or job.sample is not None or job.recorder is not None:
        return False
    if words[at.LOCAL_SIZE] * words[at.NUM_GROUPS] < _LEAST_ROW:
        return False
    started = time.perf_counter()
    text = generate_rows(job.kernel, job.code.options)
    if text is not None:
        made = load(text, ("inspect", "execute"), 2, {})
        job.machine_code.append(made)
        words[at.INSPECT], words[at.EXECUTE] = made.addresses["inspect"], made.addresses["execute"]
        groups = max(_ROW_ITEMS // launch.group_items, 1)
        words[at.ROW_GROUPS] = groups
        job.state.make_row_lengths(groups * int(words[at.LOCAL_SIZE]))
    job.compile_s += time.perf_counter() - started
    return text is not None


def _operations(code: KernelCode) -> int:
    """Return the operations of a kernel, each once."""
    return sum(it.total() for it in code.control.stretches) or _UNCOUNTED * len(code.places)


def _reached(job: JitRun, left_s: float) -> Limit | None:
    """Return the limit that a run has come to."""
    settings, spent = job.settings, job.work
    if _is_too_large(job, spent) or spent > job.budget.units:
        return Limit.WORK
    if job.counts.is_full:
        return Limit.MEMORY
    if left_s <= 0:
        return Limit.TIME
    return Limit.STEPS if job.steps > settings.max_steps else None


def _is_too_large(job: JitRun, spent: float) -> bool:
    """Tell whether the whole launch will take more than its budget, as what has run of it foretells."""
    groups, ended = int(job.state.words[at.GROUPS]), int(job.state.words[at.GROUP])
    if not job.may_be_sampled or spent < ESTIMATE_AT * job.budget.units:
        return False
    return spent * groups > max(ended, 1) * job.budget.units


def _upgrade(job: JitRun, elapsed: float, left: float) -> bool:
    """Switch to optimised code if much is left to do and the time for it is. Frames are laid out alike."""
    words = job.state.words
    done = max(int(words[at.GROUP]), 0) + 0.5
    rest = elapsed / done * (int(words[at.GROUPS]) - done)
    cost = optimising_s(job.code.text)
    if rest < max(_UPGRADE_REST_S, cost) or left < cost or is_huge(job.code.text):
        return False
    room = room_left()
    if room is not None and room < _OPTIMISING_BYTES:
        return True  # LLVM ends the process where it gets no memory.
    started = time.perf_counter()
    better = load(job.code.text, ("kernel",), 1, symbols(job.state.sizes.width))
    job.machine_code.append(better)
    words[at.KERNEL] = better.addresses["kernel"]
    job.compile_s += time.perf_counter() - started
    return True


def flush(job: JitRun) -> None:
    """Empty the metric tables into the sums."""
    if not job.settings.trace:
        return
    started = time.perf_counter()
    if job.state.words[at.SUB_LOST]:
        raise RuntimeError("the table of sub-rows was too small")
    subs = job.state.take_subs()
    job.shapes += len(subs)
    job.tallies.add(subs)
    if job.state.words[at.STRIDE_ON]:
        settle_function(job.state.sizes.width)(job.state.address)
        job.strides.add(job.state.take_strides(), subs)
    if job.counts.dense is not None:
        expand_function(job.state.sizes.width)(job.state.address)
        job.counts.n_carries = int(job.state.words[at.CARRY_COUNT])
    else:
        expand_pairs(job.state.take_pairs(), subs, job.counts)
    job.state.forget()
    job.metrics_s += time.perf_counter() - started
