"""Probes where fewer work-items may go on: the same in the source's counts and in machine code.

They stand at the start of each block of statements and after each early exit. A probe is a load of a byte
that no kernel has. The engines count it like any access, the code generator makes an LLVM pseudo-probe of it,
and so every block of machine code tells how often it runs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from clmap_lsp.dataclass import dataclass
from clmap_lsp.source import ir
from clmap_lsp.source.span import Span
from clmap_lsp.source.types import UCHAR, AddressSpace, PointerType


@dataclass(frozen=True, slots=True, eq=False)
class ProbedKernel:
    """A kernel with probes; those are numbered from 1."""

    kernel: ir.Kernel
    first_site: int
    """The site of probe 1; the sites below are the kernel's own."""
    object: ir.Variable

    def number(self, statement: ir.Load) -> int | None:
        """Return the number of the probe that a load is, if it is one."""
        return self.number_of_site(statement.site)

    def number_of_site(self, site: int) -> int | None:
        """Return the number of the probe with this site, if it is one."""
        return site - self.first_site + 1 if site >= self.first_site else None

    @property
    def initializer(self) -> ir.Initializer:
        """The byte that probes read."""
        return ir.Initializer(self.object, b"\0")


def symbol_of(kernel: ir.Kernel) -> str:
    """Return a kernel's name as assemblers take it: those of overloads have a `#`."""
    return kernel.name.replace("#", "_")


def with_probes(kernel: ir.Kernel) -> ProbedKernel:
    """Return the kernel with a probe in each block that has a statement, and after each early exit."""
    return _Probes(kernel).run()


class _Probes:
    def __init__(self, kernel: ir.Kernel) -> None:
        self.kernel = kernel
        self.next = kernel.n_sites
        span = kernel.name_span
        self.object = ir.Variable("probe", UCHAR, ir.VariableKind.CONSTANT_OBJECT, span, True)
        self.register = ir.Variable("probed", UCHAR, ir.VariableKind.REGISTER, span, True)

    def run(self) -> ProbedKernel:
        body = self._block(self.kernel.body, always=True)
        probed = dataclasses.replace(
            self.kernel,
            body=body,
            variables=(*self.kernel.variables, self.register),
            constants=(*self.kernel.constants, self.object),
            n_sites=self.next,
        )
        return ProbedKernel(probed, self.kernel.n_sites, self.object)

    def _block(self, block: ir.Block, *, always: bool = False) -> ir.Block:
        if not block and not always:
            return block
        span = block[0].span if block else self.kernel.name_span
        return (self._probe(span), *self._statements(block))

    def _statements(self, block: ir.Block) -> Iterator[ir.Statement]:
        """Yield statements, with a probe after each that some work-items may not come out of."""
        for number, statement in enumerate(block):
            yield self._statement(statement)
            if (
                number + 1 < len(block)
                and isinstance(statement, ir.If | ir.Switch)
                and ir.may_leave(statement)
            ):
                yield self._probe(block[number + 1].span)

    def _probe(self, span: Span) -> ir.Load:
        kind = PointerType(UCHAR, AddressSpace.CONSTANT)
        found = ir.Load(self.next, self.register, ir.ObjectAddress(self.object, kind, span), 1, 1, span)
        self.next += 1
        return found

    def _statement(self, statement: ir.Statement) -> ir.Statement:
        match statement:
            case ir.If():
                return dataclasses.replace(
                    statement, then=self._block(statement.then), otherwise=self._block(statement.otherwise)
                )
            case ir.Loop():
                return dataclasses.replace(
                    statement,
                    test=self._inside(statement.test),
                    body=self._block(statement.body, always=True),
                    step=self._inside(statement.step),
                )
            case ir.Switch():
                cases = tuple(dataclasses.replace(it, body=self._block(it.body)) for it in statement.cases)
                return dataclasses.replace(statement, cases=cases)
            case ir.Scope():
                return dataclasses.replace(statement, body=self._inside(statement.body))
            case _:
                return statement

    def _inside(self, block: ir.Block) -> ir.Block:
        return tuple(self._statements(block))
