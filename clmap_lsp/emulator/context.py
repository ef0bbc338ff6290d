"""What every part of the code generator shares while one kernel is compiled."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field

from llvmlite import ir

from clmap_lsp.dataclass import dataclass
from clmap_lsp.emulator.layout import FAULT_KINDS
from clmap_lsp.emulator.plan import Plan
from clmap_lsp.emulator.result import CallPlace
from clmap_lsp.emulator.types import DOUBLE, I8, I32, I64, POINTER
from clmap_lsp.source.ir import Variable
from clmap_lsp.source.span import Span


@dataclass(frozen=True, slots=True)
class CodeOptions:
    """What changes the generated code."""

    contract: bool = True
    """Fuse a*b+c of one expression into one rounding, as clang's default `-ffp-contract=on` does."""
    trace: bool = True
    races: bool = True
    watch_global: bool = True
    """Look for races on global memory too."""
    exclusive: frozenset[str] = frozenset()
    """Parameters for whose buffers no two work-items can race."""
    ordered: frozenset[str] = frozenset()
    """Buffers in local memory whose accesses need not be watched."""
    uninitialised: bool = True
    control: bool = True
    """Count operations and branches."""
    lockstep: bool = False
    """Stop before each access of shared memory, so that work-items make it together."""
    sub_group_size: int = 32
    unwritten: frozenset[str] = frozenset()
    """Parameters whose buffers the host never wrote."""
    read_only: frozenset[str] = frozenset()
    """Parameters whose buffers the host made read-only."""
    write_only: frozenset[str] = frozenset()
    follow_invalid: bool = False
    """Follow the values of out-of-bounds reads to their uses (see `invalid.py`)."""


@dataclass(frozen=True, slots=True)
class Pointer:
    """A pointer value: buffer number and byte offset, never a machine address.

    A known buffer number is an int; `alignment` is a power of two that is known to divide the offset.
    """

    number: int | ir.Value
    offset: ir.Value
    alignment: int = 1


_NAME = 64
"""Characters of a name in LLVM's text: its reader cuts names off after 1,024, and takes two for one then."""
LANE_MASK = ir.IntType(16)
"""One bit for each lane of a variable; a scalar has one."""


def calls_to(span: Span, calls: Sequence[CallPlace]) -> tuple[CallPlace, ...]:
    """Return those of the calls around a place that lead to it: not one in whose arguments it stands."""
    return tuple(
        it
        for it in calls
        if not (it.span.path == span.path and it.span.start <= span.start and span.end <= it.span.end)
    )


def lane_mask(lanes: Iterable[int]) -> int:
    """Return the bits of some lanes, as the signed number that LLVM wants."""
    mask = sum(1 << lane for lane in set(lanes))
    return mask - (1 << 16) if mask >> 15 else mask


@dataclass(slots=True)
class Slot:
    """Where a register variable lives while the code runs: stack slots that LLVM turns into registers."""

    kind: ir.Type
    place: ir.Value
    number: ir.Value | None = None
    """For pointer variables without one known buffer: the slot of the number."""
    target: int | None = None
    initialised: ir.Value | None = None
    """A `LANE_MASK` of written lanes, for variables that may be read before they are written."""
    origin: ir.Value | None = None
    """The out-of-bounds read that the value depends on, where that is followed (see `invalid.py`)."""


Value = ir.Value | Pointer


@dataclass(slots=True)
class Context:
    """The state of code generation. `builder` always stands where the next instruction goes."""

    plan: Plan
    options: CodeOptions
    module: ir.Module
    function: ir.Function
    builder: ir.IRBuilder
    entry: ir.IRBuilder
    """Stands in the entry block, which dominates everything: for slots and loads of launch constants."""
    state: ir.Value
    frame: ir.Value
    slots: dict[Variable, Slot] = field(default_factory=dict)
    places: list[Span] = field(default_factory=list)
    """Place numbers of faults: the first are the sites' own numbers."""
    calls: list[CallPlace] = field(default_factory=list)
    """Those whose statements are being emitted, from the kernel inwards."""
    calls_to: list[tuple[CallPlace, ...]] = field(default_factory=list)
    """The calls that lead to each of the places."""
    unknowns: list[tuple[str, Span]] = field(default_factory=list)
    """Values that were taken for zero because nobody can know them."""
    _hoisted: dict[tuple[str, int], ir.Value] = field(default_factory=dict)
    scalar_words: dict[Variable, int] = field(default_factory=dict)
    """For each argument by value, and each image's extents, the word in the table of scalars."""
    item: ir.IRBuilder | None = None
    """Stands where each work-item starts, if a function runs several."""

    @property
    def fresh(self) -> ir.IRBuilder:
        """Stands where variables get their first values."""
        return self.entry if self.item is None else self.item

    @property
    def steady(self) -> ir.IRBuilder:
        """Stands where a work-item's frame is known, once for all that it does."""
        return self.fresh

    @property
    def is_quick(self) -> bool:
        """True if a work-item runs once in each pass over its group: nothing is traced, and no lockstep."""
        return not (self.options.trace or self.options.lockstep)

    # ------------------------------------------------------------------------------------------- blocks

    def block(self, name: str) -> ir.Block:
        """Append a block."""
        created: ir.Block = self.function.append_basic_block(name)
        return created

    @contextmanager
    def rarely(self, condition: ir.Value, name: str) -> Iterator[None]:
        """Emit code that runs only where `condition` holds, which is seldom."""
        inside, after = self.block(name), self.block(name + ".after")
        self.builder.cbranch(condition, inside, after)
        self.builder.position_at_end(inside)
        yield
        if not self.builder.block.is_terminated:
            self.builder.branch(after)
        self.builder.position_at_end(after)

    def either(
        self, condition: ir.Value, then: Callable[[], ir.Value], other: Callable[[], ir.Value], kind: ir.Type
    ) -> ir.Value:
        """Emit a branch of which each side yields a value of LLVM type `kind`."""
        first, second, end = self.block("yes"), self.block("no"), self.block("end")
        self.builder.cbranch(condition, first, second)
        incoming = []
        for start, make in ((first, then), (second, other)):
            self.builder.position_at_end(start)
            incoming.append((make(), self.builder.block))
            self.builder.branch(end)
        self.builder.position_at_end(end)
        phi = self.builder.phi(kind)
        for value, block in incoming:
            phi.add_incoming(value, block)
        return phi

    # --------------------------------------------------------------------------------------- shared words

    def state_word(self, index: int) -> ir.Value:
        """Load a word of the state at the builder's place."""
        return self.builder.load(self.state_place(index), typ=I64)

    def state_place(self, index: int) -> ir.Value:
        """Return the address of a word of the state."""
        return self.builder.gep(self.state, [ir.Constant(I64, index)], source_etype=I64)

    def frame_word(self, index: int) -> ir.Value:
        """Load a word of the frame at the builder's place."""
        return self.builder.load(self.frame_place(index), typ=I64)

    def frame_place(self, index: int) -> ir.Value:
        """Return the address of a word of the frame."""
        return self.builder.gep(self.frame, [ir.Constant(I64, index)], source_etype=I64)

    def constant_state(self, index: int) -> ir.Value:
        """Load a word of the state that does not change while a work-item runs, once."""
        return self._once(
            ("state", index),
            lambda: self.entry.load(
                self.entry.gep(self.state, [ir.Constant(I64, index)], source_etype=I64), typ=I64
            ),
        )

    def constant_frame(self, index: int) -> ir.Value:
        """Load a word of the frame that does not change while a work-item runs, once."""
        return self._once(
            ("frame", index),
            lambda: self.steady.load(
                self.steady.gep(self.frame, [ir.Constant(I64, index)], source_etype=I64), typ=I64
            ),
        )

    def entry_word(self, table: int, number: int, index: int, width: int) -> ir.Value:
        """Load a word of a known buffer's table entry, once. `table` is the state's word for the table."""

        def make() -> ir.Value:
            base = self.entry.inttoptr(self.constant_state(table), POINTER)
            place = self.entry.gep(base, [ir.Constant(I64, number * width + index)], source_etype=I64)
            return self.entry.load(place, typ=I64)

        return self._once((f"entry{index}", number), make)

    def room(self, number: int, size: int, total: ir.Value) -> ir.Value:
        """Return the number of offsets at which `size` bytes fit into buffer `number`, computed once."""

        def make() -> ir.Value:
            fits = self.entry.sub(total, ir.Constant(I64, size - 1))
            positive = self.entry.icmp_signed(">", fits, ir.Constant(I64, 0))
            return self.entry.select(positive, fits, ir.Constant(I64, 0))

        return self._once((f"room{size}", number), make)

    def once(self, name: str, index: int, make: Callable[[], ir.Value]) -> ir.Value:
        """Return a value that `make` emits with the `entry` builder, once."""
        return self._once((name, index), make)

    def _once(self, key: tuple[str, int], make: Callable[[], ir.Value]) -> ir.Value:
        if key not in self._hoisted:
            self._hoisted[key] = make()
        return self._hoisted[key]

    # --------------------------------------------------------------------------------------------- faults

    def place(self, span: Span) -> int:
        """Return a number for a place that is not a site."""
        self.places.append(span)
        self.calls_to.append(calls_to(span, self.calls))
        return len(self.places) - 1

    def fault(self, kind: int, place: int, first: ir.Value | int = 0, second: ir.Value | int = 0) -> None:
        """Emit a report. What `first` and `second` mean depends on the kind."""
        arguments = [self.state, self.frame, ir.Constant(I64, place * FAULT_KINDS + kind)]
        arguments += [ir.Constant(I64, it) if isinstance(it, int) else it for it in (first, second)]
        self.call("report", I64, arguments)

    def call(self, name: str, result: ir.Type, arguments: list[ir.Value]) -> ir.Value:
        """Call an external function."""
        known = self.module.globals.get(name)
        if known is None:
            kind = ir.FunctionType(result, [it.type for it in arguments])
            known = ir.Function(self.module, kind, name)
            if name == "report":  # So that what only faults need is not kept in registers.
                known.attributes.add("cold")
        return self.builder.call(known, arguments)

    def slot(self, kind: ir.Type, name: str) -> ir.Value:
        """Make a stack slot."""
        return self.entry.alloca(kind, name=name[:_NAME])


__all__ = ["DOUBLE", "I8", "I32", "I64", "CodeOptions", "Context", "Pointer", "Slot", "Value"]
