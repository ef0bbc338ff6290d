"""A comparison that a conversion to unsigned makes the same for all work-items.

## What it does

Reports comparisons of an unsigned value, such as `get_global_id(0)`, with a signed one that is negative in
the launch: C converts it to unsigned, and `-12` is then larger than any id.

## Why is this bad?

`if (get_global_id(0) < n - 16)` is meant to let nobody through for `n` = 4, and lets everybody through: the
kernel reads and writes outside of its buffers.

## Example

```c
// clmap: global=1024 local=128 n=4 a=zeros(1024)
__kernel void inner(__global float *a, const int n)
{
    if (get_global_id(0) < n - 16)
        a[get_global_id(0)] = 1.0f;
}
```

## Use instead

```c
// clmap: global=1024 local=128 n=4 a=zeros(1024)
__kernel void inner(__global float *a, const int n)
{
    if ((int)get_global_id(0) < n - 16)
        a[get_global_id(0)] = 1.0f;
}
```
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from clmap_lsp.findings import Finding, Severity
from clmap_lsp.rules.meta import RuleMeta

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import KernelAnalysis
    from clmap_lsp.devices.model import DeviceModel
    from clmap_lsp.source import ir

RULE = RuleMeta("CM015", "constant-guard", Severity.WARNING)


def check(kernel: KernelAnalysis, device: DeviceModel) -> Iterator[Finding]:
    """Yield one finding a comparison."""
    from clmap_lsp.hierarchy.private_memory import assigned_once
    from clmap_lsp.source import ir

    del device
    definitions = assigned_once(kernel.kernel.body)
    seen = set()
    for node in ir.all_expressions(kernel.kernel.body):
        if isinstance(node, ir.Compare) and node.span not in seen:
            seen.add(node.span)
            yield from _judged(kernel, node, definitions)


_ALWAYS = {"<": (True, False), "<=": (True, False), ">": (False, True), ">=": (False, True)}
"""Whether a comparison is true, with the huge value on its right, and on its left."""


def _judged(
    kernel: KernelAnalysis, compare: ir.Compare, definitions: Mapping[ir.Variable, ir.Expression]
) -> Iterator[Finding]:
    from clmap_lsp.source import ir

    for side, (one, other) in enumerate(((compare.right, compare.left), (compare.left, compare.right))):
        value = _negative_made_unsigned(kernel, one, definitions)
        if value is None and any(isinstance(it, ir.WorkItem) for it in ir.nodes(other)):
            value = _folded(one)
        if value is None or compare.op.value not in _ALWAYS or _is_constant(other):
            continue
        always = "true" if _ALWAYS[compare.op.value][side] else "false"
        names = ", ".join(f"{name}={text}" for name, text in _scalars(kernel, one, definitions))
        given = f" with {names}" if names else ""
        yield RULE.finding(
            compare.span,
            f"this comparison is always {always}{given}: {value} is converted to unsigned, and larger than "
            "any id; compare signed values, as in `(int)get_global_id(0)`.",
            kernel=kernel.name,
            data={"value": value},
        )


def _folded(expression: ir.Expression) -> int | None:
    """Return the negative constant that an unsigned one of 64 bits was before it was converted."""
    from clmap_lsp.source import ir

    if (
        isinstance(expression, ir.Constant)
        and isinstance(expression.value, int)
        and expression.value >= 1 << 63
    ):
        return expression.value - (1 << 64)
    return None


def _negative_made_unsigned(
    kernel: KernelAnalysis, expression: ir.Expression, definitions: Mapping[ir.Variable, ir.Expression]
) -> int | None:
    """Return the negative value of a signed expression that is converted to unsigned; `None` for others."""
    from clmap_lsp.source import ir
    from clmap_lsp.source.types import ScalarType

    if not isinstance(expression, ir.Convert) or not isinstance(expression.type, ScalarType):
        return None
    inner = expression.operand.type
    to_unsigned = not expression.type.is_signed and not expression.type.is_float
    if not to_unsigned or not isinstance(inner, ScalarType) or not inner.is_signed:
        return None
    value = _value(kernel, expression.operand, definitions)
    return value if value is not None and value < 0 else None


def _value(
    kernel: KernelAnalysis, expression: ir.Expression, definitions: Mapping[ir.Variable, ir.Expression]
) -> int | None:
    """Return the value that an expression of constants and scalar arguments has in the launch."""
    from clmap_lsp.source import ir

    match expression:
        case ir.Constant(value=int(value)):
            return value
        case ir.Read(variable=variable) if variable in definitions:
            return _value(kernel, definitions[variable], definitions)
        case ir.Read(variable=variable) if variable in kernel.kernel.parameters and kernel.launch is not None:
            scalar = kernel.launch.scalar(variable.name)
            return scalar if isinstance(scalar, int) else None
        case ir.Convert(operand=operand):
            return _value(kernel, operand, definitions)
        case ir.Unary(op=ir.UnaryOp.NEGATE, operand=operand):
            inner = _value(kernel, operand, definitions)
            return None if inner is None else -inner
        case ir.Binary(op=op, left=left, right=right):
            one, other = _value(kernel, left, definitions), _value(kernel, right, definitions)
            if one is None or other is None:
                return None
            return {"+": one + other, "-": one - other, "*": one * other}.get(op.value)
        case _:
            return None


def _scalars(
    kernel: KernelAnalysis, expression: ir.Expression, definitions: Mapping[ir.Variable, ir.Expression]
) -> Iterator[tuple[str, str]]:
    """Yield the arguments that an expression's value rests on."""
    from clmap_lsp.source import ir

    for it in ir.nodes(expression):
        if isinstance(it, ir.Read) and it.variable in definitions:
            yield from _scalars(kernel, definitions[it.variable], definitions)
        elif isinstance(it, ir.Read) and kernel.launch is not None:
            value = kernel.launch.scalar(it.variable.name)
            if value is not None:
                yield it.variable.name, str(value)


def _is_constant(expression: ir.Expression) -> bool:
    from clmap_lsp.source import ir

    return not any(isinstance(it, (ir.Read, ir.WorkItem)) for it in ir.nodes(expression))
