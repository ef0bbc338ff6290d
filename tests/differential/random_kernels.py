"""Random kernels with what each of their accesses costs, worked out for all work-items at once.

A kernel is made as text and as closures at the same time; the closures then run it under masks of the
work-items that are there. Control flow, conversions, wrapping, launches and offsets are those of the C and
OpenCL specifications; kernels with undefined behaviour are thrown away (`UndefinedError`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from random import Random

import numpy as np
from counting_oracle import WARP, Counts, pieces
from ctypes_oracle import (
    COMPARE,
    INT,
    LONG,
    TYPES,
    UINT,
    ULONG,
    CType,
    UndefinedError,
    arithmetic,
    builtin,
    common,
    converted,
    promoted,
    shifted,
)

ELEMENTS = 4096
LOCAL_ELEMENTS = 256
MOST_TURNS = 40
SHAPES = (
    ((64,), (32,)),
    ((96,), (48,)),
    ((70,), (35,)),
    ((100,), (32,)),
    ((33, 2), (33, 2)),
    ((14, 6), (7, 3)),
    ((32, 4), (16, 4)),
    ((20, 9), (8, 4)),
    ((10, 13), (5, 13)),
    ((8, 4, 4), (4, 4, 2)),
    ((6, 5, 3), (3, 5, 3)),
)
STRUCT_TEXT = "typedef struct { char c; int i; long l; short s; uint u; } P;"
STRUCT_SIZE = 24
MEMBERS = {"c": (0, 1), "i": (4, 4), "l": (8, 8), "s": (16, 2), "u": (20, 4)}
SCALAR_BUFFERS = {"A": ("int", 4), "B": ("char", 1), "C": ("short", 2), "D": ("long", 8), "F": ("float", 4)}
VECTORS = {
    "V": ("float", 4, 4),
    "W": ("int", 4, 2),
    "X": ("float", 4, 8),
    "Y": ("char", 1, 4),
    "Z": ("float", 4, 3),
}
LOCALS = {"L": ("int", 4), "M": ("long", 8), "N": ("float4", 16), "O": ("char", 1)}
BUILTINS = {
    "min": 2, "max": 2, "clamp": 3, "add_sat": 2, "sub_sat": 2, "mul_hi": 2, "hadd": 2, "rhadd": 2,
    "rotate": 2, "popcount": 1, "clz": 1, "bitselect": 3, "mad_hi": 3, "select": 3, "abs": 1, "abs_diff": 2,
    "mad_sat": 3,
}  # fmt: skip
_MORE = ("__global P *S", "__global float *R", "__global const int *I", "__global int *G")
PERMUTED = 1024
PERMUTATION = np.random.default_rng(7).permutation(PERMUTED).astype(object)
FAR = 1 << 40
"""Bytes between two buffers: no sector holds parts of both."""
INDEX_NUMBERS = (0, 1, 2, 3, 4, 5, 7, 8, 12, 16, 31, 33, 64, 255)


@dataclass
class Expr:
    """An expression: its text, its type, and what gives its value for every work-item under a mask."""

    text: str
    kind: CType
    value: Callable


@dataclass
class Frame:
    """A loop, a switch or a call; the work-items that left it, and those that wait for a loop's step."""

    kind: str
    gone: object
    waiting: object


class Run:
    """The state of a run."""

    def __init__(self, n_items, warps):
        self.variables = {}
        self.frames = []
        self.counts = Counts(warps)
        self.n_items = n_items
        self.private = {}

    def assign(self, name, values, live):
        old = self.variables.get(name)
        self.variables[name] = values if old is None else np.where(live, values, old)

    def block(self, statements, live):
        for it in statements:
            if not live.any():
                return live
            live = it(self, live)
        return live

    def enter(self, kind):
        none = np.zeros(self.n_items, bool)
        self.frames.append(Frame(kind, none, none.copy()))
        return self.frames[-1]

    def leave(self, kinds, live):
        frame = next(it for it in reversed(self.frames) if it.kind in kinds)
        frame.gone = frame.gone | live
        return np.zeros_like(live)

    def outside(self, live, frames):
        """Return those of a mask who have left none of the frames that are still open."""
        for frame in frames:
            live = live & ~frame.gone & ~frame.waiting
        return live


class Kernel:
    """Makes one kernel from a seed; `run` says what its accesses cost."""

    def __init__(self, seed):
        self.rng = Random(seed)
        self.shape, self.local = self.rng.choice(SHAPES)
        has_offset = self.rng.random() < 0.3
        self.offset = tuple(self.rng.choice((0, 3, 100)) for _ in self.shape) if has_offset else ()
        self.scalars = {
            "n": (INT, self.rng.choice((1, 7, 16, 31, 64, 100))),
            "m": (INT, self.rng.choice((-1, -3, 0, 2, 5))),
            "q": (UINT, self.rng.choice((0, 1, 3, 8, 4000000000))),
            "w": (ULONG, self.rng.choice((0, 2, 9, 63))),
        }
        self.lines = []
        self.depth = 0
        self.names = 0
        self.scope = []
        self.arrays = []
        """Private arrays: (name, elements)."""
        self.breakable = []
        self.targets = []
        """Labels ahead, which a `goto` may lead to."""
        self.in_helper = False
        self._place_items()
        self._write()

    # ------------------------------------------------------------------------------------- launch

    def _place_items(self):
        """Put the work-items in the order of their groups and local ids."""
        dims = len(self.shape)
        groups = [-(-g // x) for g, x in zip(self.shape, self.local, strict=True)]
        rows = {
            name: [[] for _ in range(3)]
            for name in ("get_global_id", "get_local_id", "get_group_id", "get_local_size")
        }
        self.warps, linear = [], []
        for number in range(prod(groups)):
            at, rest = [], number
            for n in groups:
                at.append(rest % n)
                rest //= n
            sizes = [min(x, g - a * x) for x, g, a in zip(self.local, self.shape, at, strict=True)]
            for item in range(prod(sizes)):
                rest = item
                for d in range(3):
                    size = sizes[d] if d < dims else 1
                    here, rest = rest % size, rest // size
                    rows["get_local_id"][d].append(here)
                    rows["get_group_id"][d].append(at[d] if d < dims else 0)
                    rows["get_local_size"][d].append(size)
                    offset = self.offset[d] if self.offset and d < dims else 0
                    start = at[d] * self.local[d] + offset if d < dims else 0
                    rows["get_global_id"][d].append(start + here)
                self.warps.append(((number, item // WARP), item % WARP))
                linear.append(item)
        self.n_items = len(self.warps)
        self.ids = {(name, d): np.array(rows[name][d], object) for name in rows for d in range(3)}
        for d in range(3):
            offset = self.offset[d] if self.offset and d < dims else 0
            self.ids["get_global_size", d] = self._same(self.shape[d] if d < dims else 1)
            self.ids["get_num_groups", d] = self._same(groups[d] if d < dims else 1)
            self.ids["get_global_offset", d] = self._same(offset)
        self.ids["get_local_linear_id", None] = np.array(linear, object)

    def _same(self, number):
        return np.full(self.n_items, number, object)

    # -------------------------------------------------------------------------------- expressions

    def literal(self):
        number = self.rng.choice(INDEX_NUMBERS)
        suffix, kind = self.rng.choice((("", INT),) * 6 + (("u", UINT), ("L", LONG), ("UL", ULONG)))
        values = self._same(number)
        return Expr(f"{number}{suffix}", kind, lambda run, live: values)

    def leaf(self):
        pick = self.rng.random()
        if pick < 0.12 and self.arrays:
            return self._element()
        if pick < 0.5 and self.scope:
            name, kind = self.rng.choice(self.scope)
            return Expr(name, kind, lambda run, live: run.variables[name])
        if pick < 0.62 and not self.in_helper:
            name = self.rng.choice(list(self.scalars))
            kind, number = self.scalars[name]
            values = self._same(number)
            return Expr(name, kind, lambda run, live: values)
        return self.literal() if pick < 0.8 else self.work_item()

    def _element(self):
        """Return an element of a private array."""
        name, length = self.rng.choice(self.arrays)
        at = self.leaf() if self.rng.random() < 0.5 else self.literal()
        kind = common(at.kind, INT)

        def value(run, live):
            where = converted(at.value(run, live), kind) & (length - 1)
            cells = np.stack([run.variables[name, n] for n in range(length)])
            return cells[where.astype(int), np.arange(len(where))]

        return Expr(f"{name}[({at.text}) & {length - 1}]", INT, value)

    def work_item(self):
        name, d = self.rng.choice(list(self.ids))
        values = self.ids[name, d]
        return Expr(f"{name}({'' if d is None else d})", ULONG, lambda run, live: values)

    def expression(self, depth=2):
        if depth == 0 or self.rng.random() < 0.2:
            return self.leaf()
        makers = (
            (0.55, self._binary),
            (0.65, self._compare),
            (0.75, self._cast),
            (0.82, self._unary),
            (0.9, self._choice),
            (1.0, self._builtin),
        )
        pick = self.rng.random()
        return next(make for limit, make in makers if pick < limit)(depth)

    def _binary(self, depth):
        op = self.rng.choice(("+", "+", "+", "-", "-", "*", "*", "/", "%", "&", "|", "^", "<<", ">>"))
        a, b = self.expression(depth - 1), self.expression(depth - 1)
        if op in ("/", "%") and self.rng.random() < 0.9:
            b = self._odd(b)
        text = f"({a.text} {op} {b.text})"
        if op in ("<<", ">>"):
            kind = promoted(a.kind)

            def shift(run, live):
                values = converted(a.value(run, live), kind)
                if op == "<<" and kind.signed and ((values < 0) | (values > 1 << 20))[live].any():
                    raise UndefinedError("a signed shift")
                return shifted(op, values, b.value(run, live), kind)

            return Expr(text, kind, shift)
        kind = common(a.kind, b.kind)

        def value(run, live):
            left, right = converted(a.value(run, live), kind), converted(b.value(run, live), kind)
            return arithmetic(op, left, right, kind, live)

        return Expr(text, kind, value)

    def _odd(self, a):
        """Return `a | 1`, which is not 0."""
        kind = common(a.kind, INT)
        return Expr(f"({a.text} | 1)", kind, lambda run, live: converted(a.value(run, live), kind) | 1)

    def _compare(self, depth):
        op = self.rng.choice(list(COMPARE))
        a, b = self.expression(depth - 1), self.expression(depth - 1)
        kind = common(a.kind, b.kind)

        def value(run, live):
            found = COMPARE[op](converted(a.value(run, live), kind), converted(b.value(run, live), kind))
            return found.astype(int).astype(object)

        return Expr(f"({a.text} {op} {b.text})", INT, value)

    def _cast(self, depth):
        kind, a = TYPES[self.rng.choice(list(TYPES))], self.expression(depth - 1)
        return Expr(f"(({kind.name})({a.text}))", kind, lambda run, live: converted(a.value(run, live), kind))

    def _unary(self, depth):
        op, a = self.rng.choice("-~!"), self.expression(depth - 1)
        if op == "!":
            return Expr(
                f"(!{a.text})", INT, lambda run, live: (a.value(run, live) == 0).astype(int).astype(object)
            )
        kind = promoted(a.kind)

        def value(run, live):
            values = converted(a.value(run, live), kind)
            if op == "~":
                return converted(-values - 1, kind)
            return arithmetic("-", self._same(0), values, kind, live)

        return Expr(f"({op}{a.text})", kind, value)

    def _choice(self, depth):
        condition, a, b = (self.expression(depth - 1) for _ in range(3))
        kind = common(a.kind, b.kind)

        def value(run, live):
            taken = condition.value(run, live) != 0
            one = converted(a.value(run, live & taken), kind)
            return np.where(taken, one, converted(b.value(run, live & ~taken), kind))

        return Expr(f"({condition.text} ? {a.text} : {b.text})", kind, value)

    def _builtin(self, depth):
        name = self.rng.choice(list(BUILTINS))
        kind = TYPES[self.rng.choice(list(TYPES))]
        parts = [self.expression(depth - 1) for _ in range(BUILTINS[name])]
        texts = [f"({kind.name})({it.text})" for it in parts]
        result = kind
        if name in ("abs", "abs_diff") and kind.signed:
            result = TYPES[f"u{kind.name}"]
        limits = sorted(self.rng.sample(range(100), 2))
        if name == "clamp":
            texts[1:] = [f"({kind.name}){it}" for it in limits]

        def value(run, live):
            values = [converted(it.value(run, live), kind) for it in parts]
            if name == "clamp":
                values[1:] = [self._same(it) for it in limits]
            if name == "select":
                return np.where(values[2] != 0, values[1], values[0])
            if name == "abs":
                return abs(values[0])
            if name == "abs_diff":
                return abs(values[0] - values[1])
            return builtin(name, values, kind)

        return Expr(f"{name}({', '.join(texts)})", result, value)

    def condition(self):
        return self.rng.choice((self._compare, self.expression))(2)

    # ------------------------------------------------------------------------------------ writing

    def line(self, text):
        """Write a line; return its number, from 1."""
        self.lines.append("  " * (self.depth + 1) + text)
        return len(self.lines)

    def name(self, prefix="v"):
        self.names += 1
        return f"{prefix}{self.names}"

    def nested(self, make):
        """Return the statements of a block with a scope of its own."""
        self.depth += 1
        kept, arrays = len(self.scope), len(self.arrays)
        found = make()
        del self.scope[kept:], self.arrays[arrays:]
        self.depth -= 1
        return found

    def statements(self, n):
        return [it for _ in range(n) for it in self.statement()]

    def block(self):
        return self.nested(lambda: self.statements(self.rng.randint(1, 3)))

    def statement(self):
        """Return the closures of one random statement."""
        if self.targets and self.rng.random() < 0.2:
            return [self.jump()]
        pick = self.rng.random()
        deep = self.depth >= 3
        if pick < 0.42:
            return [self.access()]
        if pick < 0.5 or deep:
            return [self.declaration()]
        if pick < 0.55:
            makers = [self.array, self.array_write, self.vector]
            makers += [] if self.in_helper else [self.chosen_pointer, self.valued_call, self.indirect]
            return [self.rng.choice(makers)()]
        if pick < 0.59:
            return [self.assignment()]
        if pick < 0.62:
            return [self.labelled()]
        if pick < 0.75:
            return [self.branch()]
        if pick < 0.86:
            return [self.loop()]
        if pick < 0.91:
            return [self.switch()]
        if pick < 0.95 and self.breakable:
            return [self.leaving()]
        if pick < 0.97 and self.helpers and not self.in_helper:
            return [self.call()]
        return [self.early_return()] if self.depth else [self.declaration()]

    def declaration(self):
        kind, value = TYPES[self.rng.choice(("int",) * 5 + tuple(TYPES))], self.expression()
        name = self.name()
        self.line(f"{kind.name} {name} = {value.text};")
        self.scope.append((name, kind))

        def run(state, live):
            state.variables.pop(name, None)
            state.assign(name, converted(value.value(state, live), kind), live)
            return live

        return run

    def array(self):
        """Return the declaration of a private array."""
        name, length = self.name("p"), self.rng.choice((2, 4))
        values = [self.expression(1) for _ in range(length)]
        self.line(f"int {name}[{length}] = {{{', '.join(f'(int)({it.text})' for it in values)}}};")

        def run(state, live):
            for n, value in enumerate(values):
                found = converted(value.value(state, live), INT)
                state.variables.pop((name, n), None)
                state.assign((name, n), found, live)
            return live

        self.arrays.append((name, length))
        return run

    def array_write(self):
        """Return a store to a private array, at a place that may differ between work-items."""
        if not self.arrays:
            return self.array()
        name, length = self.rng.choice(self.arrays)
        at, value = self.expression(1), self.expression(1)
        kind = common(at.kind, INT)
        self.line(f"{name}[({at.text}) & {length - 1}] = (int)({value.text});")

        def run(state, live):
            where = converted(at.value(state, live), kind) & (length - 1)
            found = converted(value.value(state, live), INT)
            for n in range(length):
                state.assign((name, n), found, live & (where == n))
            return live

        return run

    def vector(self):
        """Return a vector of integers, of which one component is used from then on."""
        name, result = self.name(), self.name()
        kind = TYPES[self.rng.choice(("int", "uint", "short", "long"))]
        op, style = self.rng.choice("+-*&|^"), self.rng.choice(("plain", "compare", "select"))
        lane = self.rng.randrange(2)
        parts = [[self.expression(1) for _ in range(2)] for _ in range(2)]
        one, two = (
            f"({kind.name}2)({', '.join(f'({kind.name})({it.text})' for it in pair)})" for pair in parts
        )
        signed = TYPES[kind.name.removeprefix("u")]
        text = {
            "plain": f"{one} {op} {two}",
            "compare": f"{one} < {two}",
            "select": f"{one} > {two} ? {one} : {two}",
        }
        vector = signed if style == "compare" else kind
        self.line(f"{vector.name}2 {name} = {text[style]}; {vector.name} {result} = {name}.s{lane};")
        self.scope.append((result, vector))

        def run(state, live):
            a, b = (converted(pair[lane].value(state, live), kind) for pair in parts)
            for pair in parts:
                pair[1 - lane].value(state, live)
            if style == "compare":
                found = -(a < b).astype(int).astype(object)
            elif style == "select":
                found = np.where(a > b, a, b)
            else:
                wide = arithmetic(op, a, b, kind, live if kind.bits >= 32 else np.zeros_like(live))
                found = converted(wide, kind)
                other = [converted(pair[1 - lane].value(state, live), kind) for pair in parts]
                arithmetic(op, *other, kind, live if kind.bits >= 32 else np.zeros_like(live))
            state.variables.pop(result, None)
            state.assign(result, found, live)
            return live

        return run

    def indirect(self):
        """Return a load of an index, which is used from then on."""
        index, name = self.index(PERMUTED), self.name()
        key = self.line(f"int {name} = I[{index.text}];"), "load", "I"
        self.scope.append((name, INT))

        def run(state, live):
            at = index.value(state, live)
            state.counts.note(key, "global", at * 4, live, [(0, 4)])
            state.variables.pop(name, None)
            state.assign(name, PERMUTATION[at.astype(int)], live)
            return live

        return run

    def chosen_pointer(self):
        """Return an access of one of two buffers."""
        condition, index, name = self.condition(), self.index(ELEMENTS), self.name("t")
        store = self.rng.random() < 0.5
        access = f"{name}[{index.text}] = 1;" if store else f"sink += {name}[{index.text}];"
        text = f"{{ __global int *{name} = {condition.text} ? A : G; {access} }}"
        key = self.line(text), "store" if store else "load", "A or G"

        def run(state, live):
            first = condition.value(state, live) != 0
            addresses = index.value(state, live) * 4 + np.where(first, 0, FAR)
            state.counts.note(key, "global", addresses, live, [(0, 4)])
            return live

        return run

    def valued_call(self):
        """Return a call of a function that returns a value, perhaps early."""
        if not self.functions:
            return self.declaration()
        function, names, kinds, result, body = self.rng.choice(self.functions)
        values, name = [self.expression(1) for _ in kinds], self.name()
        self.line(f"{result.name} {name} = {function}({', '.join(it.text for it in values)});")
        self.scope.append((name, result))

        def run(state, live):
            found = [converted(it.value(state, live), kind) for it, kind in zip(values, kinds, strict=True)]
            for parameter, value in zip(names, found, strict=True):
                state.variables.pop(parameter, None)
                state.assign(parameter, value, live)
            state.variables.pop("returned", None)
            outer = list(state.frames)
            state.enter("call")
            state.block(body, live)
            state.frames.pop()
            live = state.outside(live, outer)
            returned = state.variables["returned"]
            state.variables.pop(name, None)
            state.assign(name, returned, live)
            return live

        return run

    def function(self):
        """Write a function that returns an integer."""
        name, kinds = self.name("f"), [TYPES[self.rng.choice(list(TYPES))] for _ in range(2)]
        names, result = [self.name("a") for _ in kinds], TYPES[self.rng.choice(("int", "uint", "long"))]
        parameters = ", ".join(f"{kind.name} {it}" for kind, it in zip(kinds, names, strict=True))
        self.lines.append(f"{result.name} {name}({parameters}) {{")
        self.scope = list(zip(names, kinds, strict=True))
        self.in_helper = True
        body = [self.declaration(), self._returned(result), self.declaration(), self._returned(result, True)]
        self.in_helper = False
        self.scope, self.arrays = [], []
        self.lines.append("}")
        return name, names, kinds, result, body

    def _returned(self, result, always=False):
        condition, value = self.condition(), self.expression()
        self.line(f"return {value.text};" if always else f"if ({condition.text}) return {value.text};")

        def run(state, live):
            taken = live if always else live & (condition.value(state, live) != 0)
            state.assign("returned", converted(value.value(state, taken), result), taken)
            state.leave(("call",), taken)
            return live & ~taken

        return run

    def assignment(self):
        mine = [it for it in self.scope if not it[0].startswith("t")]
        if not mine:
            return self.declaration()
        (name, kind), value = self.rng.choice(mine), self.expression()
        self.line(f"{name} = {value.text};")

        def run(state, live):
            state.assign(name, converted(value.value(state, live), kind), live)
            return live

        return run

    # ------------------------------------------------------------------------------------ accesses

    def index(self, most):
        """Return an index below `most`, a power of two."""
        if self.rng.random() < 0.5:
            x = self.work_item()
            while not x.text.startswith(
                ("get_global_id", "get_local_id", "get_group_id", "get_local_linear")
            ):
                x = self.work_item()
            factor, extra = self.rng.choice((1, 1, 1, 2, 3, 4, 8, 16, 32)), self.rng.choice((0, 0, 1, 3, 8))
            value = lambda run, live: x.value(run, live) * factor + extra  # noqa: E731
            inner = Expr(f"{x.text} * {factor} + {extra}", ULONG, value)
        else:
            inner = self.expression()
        mask = self._same(most - 1)

        def masked(run, live):
            values = inner.value(run, live)
            kind = common(inner.kind, INT)
            return converted(values, kind) & mask

        return Expr(f"({inner.text}) & {most - 1}", common(inner.kind, INT), masked)

    def access(self):
        """Return one access of global or local memory, on a line of its own."""
        pick = self.rng.random()
        if pick < 0.5:
            return self._scalar_access(SCALAR_BUFFERS, ELEMENTS, "global")
        if pick < 0.7 and not self.in_helper:
            return self._scalar_access(LOCALS, LOCAL_ELEMENTS, "local")
        if self.in_helper:
            return self._scalar_access(SCALAR_BUFFERS, ELEMENTS, "global")
        if pick < 0.8:
            return self._member_access()
        return self._vector_access() if pick < 0.93 else self._vload()

    def _scalar_access(self, buffers, most, space):
        buffer = self.rng.choice(list(buffers))
        kind, size = buffers[buffer]
        index = self.index(most)
        store = self.rng.random() < 0.5
        if store:
            text = f"{buffer}[{index.text}] = {'(float4)(1)' if kind == 'float4' else '1'};"
        else:
            text = f"sink += {buffer}[{index.text}]{'.x' if kind == 'float4' else ''};"
        parts = [(0, size)] if store or kind != "float4" else [(0, 4)]
        return self._noted(text, buffer, store, space, index, size, 0, parts)

    def _member_access(self):
        member = self.rng.choice(list(MEMBERS))
        at, size = MEMBERS[member]
        index = self.index(ELEMENTS // 8)
        store = self.rng.random() < 0.5
        place = f"S[{index.text}].{member}"
        text = f"{place} = 1;" if store else f"sink += {place};"
        return self._noted(text, "S", store, "global", index, STRUCT_SIZE, at, [(0, size)])

    def _vector_access(self):
        buffer = self.rng.choice(list(VECTORS))
        kind, element, lanes = VECTORS[buffer]
        padded = element * (4 if lanes == 3 else lanes)
        index = self.index(ELEMENTS // 8)
        place = f"{buffer}[{index.text}]"
        whole = pieces(element * lanes if lanes == 3 else padded, padded, element)
        lane = self.rng.randrange(lanes)
        match self.rng.choice(("load", "store", "read one", "write one")):
            case "load":
                name = self.name("t")
                total = " + ".join(f"{name}.s{n}" for n in range(lanes))
                text, store, parts = (
                    f"{{ {kind}{lanes} {name} = {place}; sink += {total}; }}",
                    False,
                    pieces(padded, padded, element),
                )
            case "store":
                text, store, parts = f"{place} = ({kind}{lanes})(1);", True, whole
            case "read one":
                text, store, parts = f"sink += {place}.s{lane};", False, [(lane * element, element)]
            case _:
                text, store, parts = f"{place}.s{lane} = 1;", True, whole
        return self._noted(text, buffer, store, "global", index, padded, 0, parts)

    def _vload(self):
        lanes = self.rng.choice((2, 3, 4, 8))
        index, shift = self.index(ELEMENTS // 16), self.rng.choice((0, 1, 2))
        name = self.name("t")
        store = self.rng.random() < 0.4
        total = " + ".join(f"{name}.s{n}" for n in range(lanes))
        load = f"{{ float{lanes} {name} = vload{lanes}({index.text}, F + {shift}); sink += {total}; }}"
        text = f"vstore{lanes}((float{lanes})(1), {index.text}, F + {shift});" if store else load
        parts = [(4 * n, 4) for n in range(lanes)]
        return self._noted(text, "F", store, "global", index, 4 * lanes, 4 * shift, parts)

    def _noted(self, text, buffer, store, space, index, stride, start, parts):
        key = (self.line(text), "store" if store else "load", buffer)

        def run(state, live):
            addresses = index.value(state, live) * stride + start
            state.counts.note(key, space, addresses, live, parts)
            return live

        return run

    # ----------------------------------------------------------------------------------------- flow

    def branch(self):
        condition = self.condition()
        self.line(f"if ({condition.text}) {{")
        then = self.block()
        otherwise = []
        if self.rng.random() < 0.5:
            self.line("} else {")
            otherwise = self.block()
        self.line("}")

        def run(state, live):
            taken = condition.value(state, live) != 0
            yes = state.block(then, live & taken)
            no = state.block(otherwise, live & ~taken)
            return yes | no

        return run

    def loop(self):
        """Return a counted loop of one of three kinds, whose bound may depend on the work-item."""
        name, kind = self.name("t"), TYPES[self.rng.choice(("int", "int", "uint", "long", "ulong"))]
        step = self.rng.choice((1, 1, 2, 3))
        bound = self.rng.choice((self.literal, self.work_item, lambda: self.expression(1), self.leaf))()
        most = self.rng.choice((2, 4, 5, 9))
        limit = Expr(f"({bound.text}) % {most}", promoted(bound.kind), None)

        def end(state, live):
            values = converted(bound.value(state, live), limit.kind)
            return arithmetic("%", values, self._same(most), common(limit.kind, INT), live)

        start = self.rng.choice((0, 0, 0, 1))
        style = self.rng.choice(("for", "while", "do", "goto"))
        compared = common(kind, limit.kind)
        test_text = f"{name} < {limit.text}"
        if style == "for":
            self.line(f"for ({kind.name} {name} = {start}; {test_text}; {name} += {step}) {{")
        else:
            self.line(f"{kind.name} {name} = {start};")
            heads = {"do": "do {", "goto": f"again_{name}: {{"}
            self.line(heads.get(style, f"while ({test_text}) {{"))
        around = self.breakable
        self.breakable = [] if style == "goto" else [*around, "loop" if style == "for" else "plain loop"]
        kept = len(self.scope)
        self.scope.append((name, kind))
        regular = self.rng.random() < 0.5
        body = self.nested(lambda: [self.access() for _ in range(2)]) if regular else self.block()
        if style != "for":
            self.depth += 1
            self.line(f"{name} += {step};")
            self.depth -= 1
        del self.scope[kept:]
        self.breakable = around
        ends = {"do": f"}} while ({test_text});", "goto": f"}} if ({test_text}) goto again_{name};"}
        self.line(ends.get(style, "}"))

        def test(state, live):
            left = converted(state.variables[name], compared)
            return left < converted(end(state, live), compared)

        def advance(state, live):
            moved = arithmetic("+", state.variables[name], self._same(step), common(kind, INT), live)
            state.assign(name, converted(moved, kind), live)

        def run(state, live):
            state.variables.pop(name, None)
            state.assign(name, self._same(start), live)
            outer = list(state.frames)
            frame = state.enter("loop")
            here = live if style in ("do", "goto") else live & test(state, live)
            turns = 0
            while here.any():
                turns += 1
                if turns > MOST_TURNS:
                    raise UndefinedError("too many turns")
                after = state.block(body, here)
                if style == "for":
                    after = after | (frame.waiting & ~frame.gone)
                    frame.waiting = np.zeros_like(live)
                if after.any():
                    advance(state, after)
                    here = after & test(state, after)
                else:
                    here = after
            state.frames.pop()
            return state.outside(live, outer)

        return run

    def switch(self):
        value = self.expression()
        self.line(f"switch ((int)(({value.text}) & 3)) {{")
        self.breakable.append("switch")
        labels = self.rng.sample((0, 1, 2, 3, "default"), self.rng.randint(1, 4))
        cases = []
        for label in labels:
            self.depth += 1
            self.line("default: {" if label == "default" else f"case {label}: {{")
            body = self.block()
            ends = self.rng.random() < 0.6
            self.line("} break;" if ends else "}")
            self.depth -= 1
            cases.append((label, body, ends))
        self.breakable.pop()
        self.line("}")
        kind = common(value.kind, INT)

        def run(state, live):
            chosen = converted(value.value(state, live), kind) & 3
            outer = list(state.frames)
            state.enter("switch")
            named = [label for label, _, _ in cases if label != "default"]
            falling = np.zeros_like(live)
            for label, body, ends in cases:
                mine = chosen == label if label != "default" else ~np.isin(chosen.astype(int), named)
                falling = state.block(body, (live & mine) | falling)
                if ends and falling.any():
                    falling = state.leave(("switch",), falling)
            state.frames.pop()
            return state.outside(live, outer)

        return run

    def leaving(self):
        """Return a `break` or `continue` under a condition."""
        inner = self.breakable[-1]
        loops = [it for it in self.breakable if it != "switch"]
        goes_on = bool(loops) and loops[-1] == "loop" and self.rng.random() < 0.5
        condition = self.condition()
        self.line(f"if ({condition.text}) {'continue' if goes_on else 'break'};")
        assert inner

        def run(state, live):
            taken = live & (condition.value(state, live) != 0)
            if goes_on:
                frame = next(it for it in reversed(state.frames) if it.kind == "loop")
                frame.waiting = frame.waiting | taken
            else:
                state.leave(("loop", "switch"), taken)
            return live & ~taken

        return run

    def labelled(self):
        """Return a block before a label, to which jumps in the block lead."""
        label = self.name("end")
        self.line("{")
        self.targets.append(label)
        body = self.block()
        self.targets.pop()
        self.line(f"}} {label}: ;")

        def run(state, live):
            outer = list(state.frames)
            state.enter(label)
            state.block(body, live)
            state.frames.pop()
            return state.outside(live, outer)

        return run

    def jump(self):
        condition, label = self.condition(), self.rng.choice(self.targets)
        self.line(f"if ({condition.text}) goto {label};")

        def run(state, live):
            taken = live & (condition.value(state, live) != 0)
            state.leave((label,), taken)
            return live & ~taken

        return run

    def early_return(self):
        condition = self.condition()
        self.line(f"if ({condition.text}) return;")

        def run(state, live):
            taken = live & (condition.value(state, live) != 0)
            state.leave(("call",), taken)
            return live & ~taken

        return run

    # -------------------------------------------------------------------------------------- helpers

    def helper(self):
        """Write a function that accesses buffers and may return early."""
        name, kinds = self.name("h"), [TYPES[self.rng.choice(list(TYPES))] for _ in range(2)]
        names = [self.name("a") for _ in kinds]
        parameters = ", ".join(f"{kind.name} {it}" for kind, it in zip(kinds, names, strict=True))
        buffers = ", ".join(f"__global {kind} *{it}" for it, (kind, _) in SCALAR_BUFFERS.items())
        self.lines.append(f"void {name}({buffers}, {parameters}) {{ float sink = 0;")
        self.scope = list(zip(names, kinds, strict=True))
        self.in_helper = True
        body = self.statements(self.rng.randint(2, 4))
        self.in_helper = False
        self.scope, self.arrays = [], []
        self.lines.append("}")
        return name, names, kinds, body

    def call(self):
        name, names, kinds, body = self.rng.choice(self.helpers)
        values = [self.expression(1) for _ in kinds]
        buffers = ", ".join(SCALAR_BUFFERS)
        self.line(f"{name}({buffers}, {', '.join(it.text for it in values)});")

        def run(state, live):
            given = [converted(it.value(state, live), kind) for it, kind in zip(values, kinds, strict=True)]
            for parameter, value in zip(names, given, strict=True):
                state.variables.pop(parameter, None)
                state.assign(parameter, value, live)
            outer = list(state.frames)
            state.enter("call")
            state.block(body, live)
            state.frames.pop()
            return state.outside(live, outer)

        return run

    # ------------------------------------------------------------------------------------ the whole

    def _write(self):
        self.lines.append(STRUCT_TEXT)
        self.helpers, self.functions = [], []
        self.functions = [self.function() for _ in range(self.rng.choice((0, 1)))]
        self.helpers = [self.helper() for _ in range(self.rng.choice((0, 1, 1, 2)))]
        pointers = [f"__global {kind} *{it}" for it, (kind, _) in SCALAR_BUFFERS.items()]
        pointers += [f"__global {kind}{lanes} *{it}" for it, (kind, _, lanes) in VECTORS.items()]
        scalars = [f"{kind.name} {name}" for name, (kind, _) in self.scalars.items()]
        sizes = [f"global={','.join(map(str, self.shape))}", f"local={','.join(map(str, self.local))}"]
        if self.offset:
            sizes.append(f"offset={','.join(map(str, self.offset))}")
        given = [f"{name}={value}" for name, (_, value) in self.scalars.items()]
        buffers = [f"{it}=zeros({ELEMENTS})" for it in (*SCALAR_BUFFERS, *VECTORS, "S", "R", "G")]
        buffers.append(f"I=permutation({PERMUTED},7)")
        self.lines.append(f"// clmap: {' '.join((*sizes, *given, *buffers))}")
        self.lines.append(f"__kernel void k({', '.join((*pointers, *_MORE, *scalars))}) {{")
        for name, (kind, _) in LOCALS.items():
            self.line(f"__local {kind} {name}[{LOCAL_ELEMENTS}];")
        self.line("float sink = 0;")
        self.body = self.statements(self.rng.randint(5, 9))
        self.last = self.line("R[get_global_id(0)] = sink;")
        self.lines.append("}")
        self.source = "\n".join(self.lines) + "\n"

    def run(self):
        """Return the counts of every access; raises UndefinedError."""
        state = Run(self.n_items, self.warps)
        state.enter("call")
        live = state.block(self.body, np.ones(self.n_items, bool))
        if live.any():
            state.counts.note(
                (self.last, "store", "R"), "global", self.ids["get_global_id", 0] * 4, live, [(0, 4)]
            )
        return state.counts
