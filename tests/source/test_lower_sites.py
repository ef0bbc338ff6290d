"""The memory operations of real kernels, and that every reference kernel is fully understood."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clmap_lsp.source import ir
from clmap_lsp.source.read import read_program
from clmap_lsp.source.types import AddressSpace, PointerType

DATA = Path(__file__).parents[1] / "data"
TRACED: dict[str, Any] = json.loads((DATA / "aiwc" / "kernels.json").read_text("utf-8"))
COUNTED: dict[str, Any] = json.loads((DATA / "hardware_truth" / "nvidia_h200.json").read_text("utf-8"))


def sources() -> Iterator[tuple[str, str, str]]:
    for group in ("kernels", "faults"):
        for case in TRACED[group]:
            yield case["name"], case["kernel"], case["source"]
    for group in ("single_access", "whole_kernel", "whole_kernel_as_written"):
        for case in COUNTED[group]:
            yield case["name"], case["kernel"], case["source"]


def test_every_reference_kernel_is_understood_without_a_gap() -> None:
    names = 0
    for name, kernel_name, source in sources():
        program = read_program(source, f"{name}.cl")
        kernel = program.kernel(kernel_name)
        assert kernel is not None, name
        assert program.problems == (), name
        gaps = (ir.OpaqueCall, ir.Unsupported, ir.Call)
        assert not any(isinstance(it, gaps) for it in ir.walk(kernel.body)), name
        names += 1
    assert names == 245


def space(pointer: ir.Expression) -> str:
    assert isinstance(pointer.type, PointerType)
    return pointer.type.space.value


def operations(statement: ir.Statement) -> list[tuple[str, str]]:
    """Return (operation, address space) of a statement, an atomic counted as a load and a store."""
    match statement:
        case ir.Load(pointer=pointer):
            found = [("load", space(pointer))]
        case ir.Store(pointer=pointer):
            found = [("store", space(pointer))]
        case ir.CopyObject(source=source, destination=destination):
            found = [("load", space(source)), ("store", space(destination))]
        case ir.Atomic(pointer=pointer):
            found = [("atomic_load", space(pointer)), ("atomic_store", space(pointer))]
        case _:
            return []
    return [it for it in found if it[1] != AddressSpace.PRIVATE.value]


NEVER_RUN = {"ctrl_flow": {(19, "load", "global"), (32, "load", "global")}}
"""Accesses that the launch of the trace does not reach."""


@pytest.mark.parametrize("case", TRACED["kernels"], ids=lambda it: it["name"])
def test_the_sites_of_a_kernel_are_those_of_an_unoptimised_compiler(case: dict[str, Any]) -> None:
    """By line, operation and address space; a trace has only the sites that ran."""
    view = case["views"].get("asw", case["views"]["opt"])
    definition = view["definition"] if isinstance(view, dict) else None
    traced = (definition if isinstance(definition, dict) else case["views"]["opt"]["definition"])["sites"]
    program = read_program(case["source"], "k.cl")
    kernel = program.kernel(case["kernel"])
    assert kernel is not None
    ours = Counter(
        (program.position(statement.span).row, *operation)
        for statement in ir.walk(kernel.body)
        for operation in operations(statement)
    )
    ours -= Counter(NEVER_RUN.get(case["name"], ()))
    assert ours == Counter((row, op, where) for row, _, op, where, _ in traced)
