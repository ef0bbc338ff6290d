"""Sub-group functions with the shape that GPU compilers give them: shuffles and votes of SIMD groups.

Nothing here is ever run: what counts is which instructions are left. A reduction or scan is a tree of
log2(width) shuffles, each followed by the operation; a broadcast or shuffle one of them (CUDA C++ Programming
Guide, "Warp Shuffle Functions"; AMD, "AMD GCN Assembly: Cross-Lane Operations": `ds_bpermute`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from llvmlite import ir as ll

from clmap_lsp.emulator.types import I32, I64, bits, is_float
from clmap_lsp.source import ir
from clmap_lsp.source.types import ScalarType, Type, element_of

if TYPE_CHECKING:
    from clmap_lsp.compiled.target import Target
    from clmap_lsp.emulator.context import Context

_TREE = re.compile(r"(?:non_uniform_|clustered_)?(reduce|scan_inclusive|scan_exclusive)_(?:logical_)?(\w+)")
_MOVED = re.compile(r"(non_uniform_|clustered_)?(broadcast|broadcast_first|shuffle|shuffle_\w+|rotate)")
_VOTED = re.compile(r"(non_uniform_)?(all|any|all_equal|elect)|ballot|inverse_ballot|ballot_\w+")
_ALL_LANES = -1
_BIT = ll.IntType(1)


def sub_group_call(
    ctx: Context, target: Target, call: ir.Collective, values: list[ll.Value]
) -> ll.Value | None:
    """Return the value of a sub-group function; `None` where its shape is not known."""
    name = call.name.removeprefix("intel_")
    if call.variable is None or not name.startswith("sub_group_"):
        return None
    name = name.removeprefix("sub_group_")
    group = _SimdGroup(ctx, target)
    kind = call.variable.type
    if (tree := _TREE.fullmatch(name)) and values:
        return group.tree(tree[1], tree[2], values[0], kind)
    if _MOVED.fullmatch(name) and values:
        lane = values[1] if len(values) > 1 else ll.Constant(I32, 0)
        return group.moved(values[0], lane)
    if _VOTED.fullmatch(name):
        return group.vote(values[0] if values else ll.Constant(I32, 1), kind)
    return None


class _SimdGroup:
    def __init__(self, ctx: Context, target: Target) -> None:
        self.ctx, self.target = ctx, target

    def tree(self, form: str, op: str, value: ll.Value, kind: Type) -> ll.Value:
        """Return a reduction or a scan."""
        builder = self.ctx.builder
        lane = self._lane()
        step = 1
        while step < (32 if self.target.is_nvidia else 64):
            near = ll.Constant(I32, step)
            other = self._shuffled(value, near, "bfly" if form == "reduce" else "up")
            joined = self._joined(op, value, other, kind)
            if form == "reduce":
                value = joined
            else:
                reaches = builder.icmp_unsigned(">=", lane, near)
                value = builder.select(reaches, joined, value)
            step *= 2
        return self._shuffled(value, ll.Constant(I32, 1), "up") if form == "scan_exclusive" else value

    def moved(self, value: ll.Value, lane: ll.Value) -> ll.Value:
        """Return the value of another lane."""
        width = lane.type.width if isinstance(lane.type, ll.IntType) else 0
        builder = self.ctx.builder
        if not width:
            lane = ll.Constant(I32, 0)
        elif width > 32:
            lane = builder.trunc(lane, I32)
        elif width < 32:
            lane = builder.zext(lane, I32)
        return self._shuffled(value, lane, "idx")

    def vote(self, value: ll.Value, kind: Type) -> ll.Value:
        """Return what the lanes say together, as a number of the type that is asked for."""
        builder = self.ctx.builder
        is_set = (
            builder.icmp_unsigned("!=", value, ll.Constant(value.type, 0))
            if not is_float(value.type)
            else (builder.fcmp_ordered("!=", value, ll.Constant(value.type, 0.0)))
        )
        if self.target.is_nvidia:
            mask = ll.Constant(I32, _ALL_LANES)
            word = self.ctx.call("llvm.nvvm.vote.ballot.sync", I32, [mask, is_set])
        else:
            word = builder.trunc(self.ctx.call("llvm.amdgcn.ballot.i64", I64, [is_set]), I32)
        return self._as(word, kind)

    def _as(self, word: ll.Value, kind: Type) -> ll.Value:
        builder = self.ctx.builder
        element = element_of(kind)
        wanted = ll.IntType(element.bits if isinstance(element, ScalarType) else 32)
        plain = (
            word
            if wanted.width == 32
            else (builder.trunc(word, wanted) if wanted.width < 32 else builder.zext(word, wanted))
        )
        lanes = getattr(kind, "lanes", 1)
        if lanes == 1:
            return plain
        vector = ll.Constant(ll.VectorType(wanted, lanes), None)
        return builder.insert_element(vector, plain, ll.Constant(I32, 0))

    def _lane(self) -> ll.Value:
        if self.target.is_nvidia:
            return self.ctx.call("llvm.nvvm.read.ptx.sreg.laneid", I32, [])
        low = self.ctx.call("llvm.amdgcn.mbcnt.lo", I32, [ll.Constant(I32, _ALL_LANES), ll.Constant(I32, 0)])
        return self.ctx.call("llvm.amdgcn.mbcnt.hi", I32, [ll.Constant(I32, _ALL_LANES), low])

    def _shuffled(self, value: ll.Value, lane: ll.Value, mode: str) -> ll.Value:
        """Return the value of other lanes, 32 bits at a time."""
        builder, kind = self.ctx.builder, value.type
        whole = ll.IntType(_width(kind))
        plain = value if kind == whole else builder.bitcast(value, whole)
        if whole.width <= 32:
            word = plain if whole.width == 32 else builder.zext(plain, I32)
            moved = self._word(word, lane, mode)
            plain = moved if whole.width == 32 else builder.trunc(moved, whole)
        else:
            count = -(-whole.width // 32)
            words = ll.VectorType(I32, count)
            parts = builder.bitcast(plain, words)
            for at in range(count):
                place = ll.Constant(I32, at)
                moved = self._word(builder.extract_element(parts, place), lane, mode)
                parts = builder.insert_element(parts, moved, place)
            plain = builder.bitcast(parts, whole)
        return plain if kind == whole else builder.bitcast(plain, kind)

    def _word(self, word: ll.Value, lane: ll.Value, mode: str) -> ll.Value:
        if self.target.is_nvidia:
            clamp = ll.Constant(I32, 0 if mode == "up" else 31)
            mask = ll.Constant(I32, _ALL_LANES)
            return self.ctx.call(f"llvm.nvvm.shfl.sync.{mode}.i32", I32, [mask, word, lane, clamp])
        builder = self.ctx.builder
        own = self._lane() if mode != "idx" else None
        where = (
            lane if own is None else (builder.xor(own, lane) if mode == "bfly" else builder.sub(own, lane))
        )
        address = builder.shl(where, ll.Constant(I32, 2))
        return self.ctx.call("llvm.amdgcn.ds.bpermute", I32, [address, word])

    def _joined(self, op: str, one: ll.Value, two: ll.Value, kind: Type) -> ll.Value:
        builder, element = self.ctx.builder, element_of(kind)
        if is_float(one.type):
            match op:
                case "add":
                    return builder.fadd(one, two)
                case "mul":
                    return builder.fmul(one, two)
            return builder.select(builder.fcmp_ordered("<" if op == "min" else ">", one, two), one, two)
        if op in ("min", "max"):
            signed = isinstance(element, ScalarType) and element.is_signed
            compare = builder.icmp_signed if signed else builder.icmp_unsigned
            return builder.select(compare("<" if op == "min" else ">", one, two), one, two)
        return {"add": builder.add, "mul": builder.mul, "and": builder.and_, "or": builder.or_}.get(
            op, builder.xor
        )(one, two)


def _width(kind: ll.Type) -> int:
    return kind.count * bits(kind.element) if isinstance(kind, ll.VectorType) else bits(kind)
