"""A plain interpreter of integer kernels: one work-item after the other, every access noted.

It shares nothing with the engines but the IR, so that it can judge them.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from clmap_lsp.devices import DeviceModel, rules
from clmap_lsp.emulator.symbolic.machine import root_space
from clmap_lsp.launch import Launch, ScalarArgument
from clmap_lsp.source import ir
from clmap_lsp.source.ir import BinaryOp, CompareOp, LogicalOp, UnaryOp, Variable, VariableKind, WorkItemQuery
from clmap_lsp.source.types import LONG, AddressSpace, PointerType, ScalarType

Instance = tuple[int, ...]
"""The turns of the loops around an access."""


class LeavingError(Exception):
    """Somebody leaves `target`: a loop (`break`, `continue`), a scope (its label), the kernel (None)."""

    def __init__(self, target: str | int | None) -> None:
        super().__init__()
        self.target = target


@dataclass
class Noted:
    """Addresses by site, group, SIMD group and instance: lane -> byte offset."""

    accesses: dict[int, dict[tuple[tuple[int, int, int], int, Instance], dict[int, int]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(dict))
    )
    statements: dict[int, ir.Load | ir.Store] = field(default_factory=dict)
    roots: dict[int, Variable] = field(default_factory=dict)


def run(kernel: ir.Kernel, launch: Launch, simd_width: int) -> Noted:
    """Run every work-item of a launch."""
    noted = Noted()
    sizes = (*launch.global_size, 1, 1)[:3]
    locals_ = (*launch.local_size, 1, 1)[:3]
    for group in product(*(range(-(-s // g)) for s, g in zip(sizes, locals_, strict=True))):
        shape = [min(g, s - i * g) for i, g, s in zip(group, locals_, sizes, strict=True)]
        for z, y, x in product(range(shape[2]), range(shape[1]), range(shape[0])):
            lane = x + shape[0] * (y + shape[1] * z)
            Item(kernel, launch, noted, group, (x, y, z), tuple(shape), lane, simd_width).run()
    return noted


def counts(noted: Noted, site: int, device: DeviceModel) -> tuple[int, int, int]:
    """Return executions, requests and sectors (wavefronts for local memory) of one site."""
    statement = noted.statements[site]
    instances = noted.accesses[site]
    width = device.simd_width
    addresses = np.zeros((len(instances), width), np.int64)
    active = np.zeros((len(instances), width), bool)
    for row, lanes in enumerate(instances.values()):
        for lane, address in lanes.items():
            addresses[row, lane % width], active[row, lane % width] = address, True
    op: rules.Op = "load" if isinstance(statement, ir.Load) else "store"
    if root_space(noted.roots[site], statement.pointer.type) is AddressSpace.LOCAL:
        units = rules.local_wavefronts(
            addresses, active, statement.size, op, device, alignment=statement.alignment
        )
    else:
        units = rules.global_sectors(
            addresses, active, statement.size, device, op, alignment=statement.alignment
        )
    return int(active.sum()), len(instances), int(np.sum(units))


def wrap(value: int, scalar: ScalarType) -> int:
    bits = scalar.bits
    value &= (1 << bits) - 1
    return value - (1 << bits) if scalar.is_signed and value >> (bits - 1) else value


@dataclass
class Item:
    """One work-item."""

    kernel: ir.Kernel
    launch: Launch
    noted: Noted
    group: tuple[int, ...]
    local: tuple[int, ...]
    shape: tuple[int, ...]
    lane: int
    simd_width: int
    env: dict[Variable, object] = field(default_factory=dict)
    private: dict[tuple[Variable, int], int] = field(default_factory=dict)
    turns: list[int] = field(default_factory=list)

    def run(self) -> None:
        for parameter in self.kernel.parameters:
            argument = self.launch.arguments.get(parameter.name)
            if isinstance(parameter.type, PointerType):
                self.env[parameter] = (parameter, 0)
            elif isinstance(argument, ScalarArgument):
                self.env[parameter] = int(argument.values[0])
        try:
            self.block(self.kernel.body)
        except LeavingError as leaving:
            assert leaving.target is None

    def block(self, block: ir.Block) -> None:
        for statement in block:
            self.statement(statement)

    def statement(self, statement: ir.Statement) -> None:
        match statement:
            case ir.Assign(variable=variable, value=value):
                self.env[variable] = self.value(value)
            case ir.Load():
                self.env[statement.variable] = self.note(statement)
            case ir.Store():
                where = self.note(statement)
                if isinstance(where, tuple):
                    self.private[where] = self.value(statement.value)  # type: ignore[assignment]
            case ir.If():
                self.block(statement.then if self.value(statement.condition) else statement.otherwise)
            case ir.Loop():
                self.loop(statement)
            case ir.Switch():
                self.switch(statement)
            case ir.Break():
                raise LeavingError("break")
            case ir.Continue():
                raise LeavingError("continue")
            case ir.Return():
                raise LeavingError(None)
            case ir.Leave(label=label):
                raise LeavingError(label)
            case ir.Scope():
                try:
                    self.block(statement.body)
                except LeavingError as leaving:
                    if leaving.target != statement.label:
                        raise
            case _:
                pass

    def loop(self, loop: ir.Loop) -> None:
        self.turns.append(0)
        tests = loop.tests_first
        while True:
            if tests:
                self.block(loop.test)
                if loop.condition is not None and not self.value(loop.condition):
                    break
            tests = True
            try:
                self.block(loop.body)
            except LeavingError as leaving:
                if leaving.target == "break":
                    break
                if leaving.target != "continue":
                    self.turns.pop()
                    raise
            self.block(loop.step)
            self.turns[-1] += 1
        self.turns.pop()

    def switch(self, switch: ir.Switch) -> None:
        value = self.value(switch.value)
        entry = next((i for i, it in enumerate(switch.cases) if value in it.values), None)
        if entry is None:
            entry = next((i for i, it in enumerate(switch.cases) if it.is_default), None)
        if entry is None:
            return
        try:
            for case in switch.cases[entry:]:
                self.block(case.body)
        except LeavingError as leaving:
            if leaving.target != "break":
                raise

    def note(self, statement: ir.Load | ir.Store) -> object:
        """Note an access; return what a load reads, or where a private store goes."""
        root, offset = self.value(statement.pointer)  # type: ignore[misc]
        if root.kind is VariableKind.PRIVATE_OBJECT:
            key = (root, offset)
            return key if isinstance(statement, ir.Store) else self.private.get(key, 0)
        site = self.noted.accesses[statement.site]
        self.noted.statements[statement.site], self.noted.roots[statement.site] = statement, root
        site[self.group, self.lane // self.simd_width, tuple(self.turns)][self.lane] = offset  # type: ignore[index]
        return 0

    # --------------------------------------------------------------------------------------- expressions

    def value(self, expression: ir.Expression) -> object:
        match expression:
            case ir.Constant(value=value):
                return value
            case ir.Read(variable=variable):
                return self.env[variable]
            case ir.ObjectAddress(variable=variable):
                return (variable, 0)
            case ir.WorkItem():
                return self.query(expression)
            case ir.Unary(op=UnaryOp.LOGICAL_NOT, operand=operand):
                return int(not self.value(operand))
            case ir.Unary(op=op, operand=operand, type=ScalarType() as scalar):
                number = self.number(operand)
                return wrap(-number if op is UnaryOp.NEGATE else ~number, scalar)
            case ir.Binary(type=ScalarType() as scalar) if scalar.is_integer:
                left, right = self.number(expression.left), self.number(expression.right)
                return wrap(arithmetic(expression.op, left, right, scalar.bits), scalar)
            case ir.Compare():
                return int(
                    compared(expression.op, self.number(expression.left), self.number(expression.right))
                )
            case ir.Logical(op=op):
                left_true, right_true = bool(self.value(expression.left)), bool(self.value(expression.right))
                return int(left_true and right_true if op is LogicalOp.AND else left_true or right_true)
            case ir.Select():
                return self.value(
                    expression.if_true if self.value(expression.condition) else expression.if_false
                )
            case ir.Convert(operand=operand, type=ScalarType(is_integer=True) as scalar):
                return wrap(self.number(operand), scalar)
            case ir.PointerCast(operand=operand):
                return self.value(operand)
            case ir.PointerOffset(pointer=pointer, index=index, stride=stride):
                root, offset = self.value(pointer)  # type: ignore[misc]
                step = wrap(self.number(index), LONG)
                return (root, offset + step * stride)
            case ir.Builtin(name=name, arguments=arguments):
                return builtin(name, [self.number(it) for it in arguments])
            case _:
                return 0

    def number(self, expression: ir.Expression) -> int:
        value = self.value(expression)
        return int(value) if isinstance(value, int | float) else 0

    def query(self, item: ir.WorkItem) -> int:
        d = 0 if item.dimension is None else self.number(item.dimension)
        sizes, groups = (*self.launch.global_size, 1, 1), (*self.launch.local_size, 1, 1)
        return {
            WorkItemQuery.GLOBAL_ID: self.group[d] * groups[d] + self.local[d],
            WorkItemQuery.LOCAL_ID: self.local[d],
            WorkItemQuery.GROUP_ID: self.group[d],
            WorkItemQuery.GLOBAL_SIZE: sizes[d],
            WorkItemQuery.LOCAL_SIZE: self.shape[d],
            WorkItemQuery.NUM_GROUPS: -(-sizes[d] // groups[d]),
        }[item.query]


def arithmetic(op: BinaryOp, left: int, right: int, bits: int) -> int:
    match op:
        case BinaryOp.ADD:
            return left + right
        case BinaryOp.SUB:
            return left - right
        case BinaryOp.MUL:
            return left * right
        case BinaryOp.DIV:
            return 0 if right == 0 else abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        case BinaryOp.REM:
            return 0 if right == 0 else left - right * arithmetic(BinaryOp.DIV, left, right, bits)
        case BinaryOp.SHL:
            return left << (right % bits)
        case BinaryOp.SHR:
            return left >> (right % bits)
        case BinaryOp.AND:
            return left & right
        case BinaryOp.OR:
            return left | right
        case BinaryOp.XOR:
            return left ^ right


def compared(op: CompareOp, left: int, right: int) -> bool:
    return {
        CompareOp.EQ: left == right,
        CompareOp.NE: left != right,
        CompareOp.LT: left < right,
        CompareOp.LE: left <= right,
        CompareOp.GT: left > right,
        CompareOp.GE: left >= right,
    }[op]


def builtin(name: str, values: list[int]) -> int:
    match name:
        case "min":
            return min(values)
        case "max":
            return max(values)
        case "clamp":
            return min(max(values[0], values[1]), values[2])
        case _:
            raise AssertionError(name)
