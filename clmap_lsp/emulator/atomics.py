"""Code for atomic operations. Work-items run one after the other, so that each is atomic by itself."""

from __future__ import annotations

from llvmlite import ir

from clmap_lsp.emulator.expressions import Expressions
from clmap_lsp.emulator.invalid import Origins
from clmap_lsp.emulator.layout import FAULT_OOB_READ, FAULT_OOB_WRITE
from clmap_lsp.emulator.memory import Memory
from clmap_lsp.emulator.operators import intrinsic_suffix
from clmap_lsp.emulator.types import I64, bits, integer, is_float, llvm_type, zero
from clmap_lsp.source.ir import Atomic, AtomicOp
from clmap_lsp.source.types import ScalarType


def emit(memory: Memory, expressions: Expressions, origins: Origins, statement: Atomic) -> ir.Value:
    """Emit an atomic: one load and one store of the same site. Returns the old value."""
    ctx = memory.ctx
    kind = llvm_type(statement.type)
    size, site = statement.type.size, statement.site
    pointer = expressions.accessed(statement.pointer)
    operands = [expressions.value(it) for it in statement.operands]
    target = memory.target(pointer)
    result = ctx.slot(kind, "old")
    ctx.builder.store(zero(kind), result)
    # What is both read and written out of bounds is reported as both, one after the other.
    is_write = statement.op is not AtomicOp.LOAD
    faults = [FAULT_OOB_READ] if statement.op is not AtomicOp.STORE else []
    faults += [FAULT_OOB_WRITE] if is_write else []
    for operand in (statement.pointer, *statement.operands):
        origins.check(operand, site)
    outside = _outside(memory, site) if statement.op is not AtomicOp.STORE else None
    with memory.checked(target, pointer, size, faults, site):
        if outside is not None:
            ctx.builder.store(ir.Constant(I64, 0), outside)
        address = memory.address(target, pointer)
        memory.check_alignment(pointer, size, site)
        old = ctx.builder.load(address, align=1, typ=kind)
        if statement.op is not AtomicOp.STORE:
            memory.trace(target, pointer, 2 * site)
            memory.before_read(target, pointer, size, site, atomic=True)
            memory.order("order_read", target, pointer, statement.order)
            ctx.builder.store(old, result)
        if statement.op is not AtomicOp.LOAD:
            new = _new_value(memory, statement, old, operands)
            memory.trace(target, pointer, 2 * site + 1)
            if statement.op is AtomicOp.COMPARE_EXCHANGE:
                # One that fails does not write, so it cannot race with readers.
                writes = _same_bits(ctx.builder, old, operands[0])
                with ctx.rarely(writes, "exchanged"):
                    memory.before_write(target, pointer, size, site, new, address, atomic=True)
                    memory.order("order_write", target, pointer, statement.order)
            else:
                memory.before_write(target, pointer, size, site, new, address, atomic=True)
                memory.order("order_write", target, pointer, statement.order)
            ctx.builder.store(new, address, align=1)
    memory.origin = None if outside is None else ctx.builder.load(outside, typ=I64)
    if statement.op not in (AtomicOp.LOAD, AtomicOp.EXCHANGE):
        origins.report(memory.origin, site)  # What is written depends on what was read.
    return ctx.builder.load(result, typ=kind)


def _outside(memory: Memory, site: int) -> ir.Value | None:
    """Make a slot that says that the read is out of bounds, until that is known better."""
    if not memory.ctx.options.follow_invalid:
        return None
    slot = memory.ctx.slot(I64, "outside")
    memory.ctx.builder.store(ir.Constant(I64, site + 1), slot)
    return slot


def _new_value(memory: Memory, statement: Atomic, old: ir.Value, operands: list[ir.Value]) -> ir.Value:
    builder = memory.ctx.builder
    kind = old.type
    real = is_float(kind)
    operand = operands[0] if operands else integer(1, kind)
    match statement.op:
        case AtomicOp.LOAD:
            return old
        case AtomicOp.STORE | AtomicOp.EXCHANGE:
            return operand
        case AtomicOp.ADD:
            return builder.fadd(old, operand) if real else builder.add(old, operand)
        case AtomicOp.SUB:
            return builder.fsub(old, operand) if real else builder.sub(old, operand)
        case AtomicOp.INC:
            return builder.add(old, integer(1, kind))
        case AtomicOp.DEC:
            return builder.sub(old, integer(1, kind))
        case AtomicOp.COMPARE_EXCHANGE:
            same = _same_bits(builder, old, operands[0])
            return builder.select(same, operands[1], old)
        case AtomicOp.MIN | AtomicOp.MAX:
            return _extreme(memory, statement, old, operand)
        case AtomicOp.AND:
            return builder.and_(old, operand)
        case AtomicOp.OR:
            return builder.or_(old, operand)
        case AtomicOp.XOR:
            return builder.xor(old, operand)


def _same_bits(builder: ir.IRBuilder, a: ir.Value, b: ir.Value) -> ir.Value:
    """Compare as `memcmp` does, floats too (C11, section 7.17.7.4)."""
    if is_float(a.type):
        whole = ir.IntType(bits(a.type))
        a, b = builder.bitcast(a, whole), builder.bitcast(b, whole)
    return builder.icmp_signed("==", a, b)


def _extreme(memory: Memory, statement: Atomic, old: ir.Value, operand: ir.Value) -> ir.Value:
    ctx = memory.ctx
    name = "min" if statement.op is AtomicOp.MIN else "max"
    if is_float(old.type):
        return ctx.call(f"llvm.{name}num.{intrinsic_suffix(old.type)}", old.type, [old, operand])
    assert isinstance(statement.type, ScalarType)
    compare = ctx.builder.icmp_signed if statement.type.is_signed else ctx.builder.icmp_unsigned
    keeps = compare("<" if name == "min" else ">", old, operand)
    return ctx.builder.select(keeps, old, operand)
