"""Memory whose contents addresses or branches need: inputs that are known, constants, private arrays."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clmap_lsp.emulator.symbolic.control import OverBudgetError
from clmap_lsp.emulator.symbolic.distinct import distinct
from clmap_lsp.emulator.symbolic.integers import spread_out
from clmap_lsp.emulator.symbolic.rows import Mask, both, simplified
from clmap_lsp.emulator.symbolic.space import Space
from clmap_lsp.emulator.symbolic.values import (
    SEVERAL,
    Floats,
    Lanes,
    Pointer,
    Sym,
    Unknown,
    Value,
    affordable,
    of_array,
)
from clmap_lsp.launch.contents import buffer_contents, numpy_dtype, scalar_bytes
from clmap_lsp.launch.model import BufferArgument, Launch, ScalarArgument
from clmap_lsp.launch.problem import LaunchError
from clmap_lsp.source.ir import Initializer, Kernel, Variable, VariableKind
from clmap_lsp.source.types import ScalarType, Type, VectorType

Inputs = dict[str, NDArray[np.uint8]]
"""Bytes of buffer arguments that were made already, for whoever needs them next."""

_LIMIT_BYTES = 1 << 26
_PYTHON_LIMIT = 1 << 21
"""Of what is worked out while a person types; a run has more."""


class KnownData:
    """Buffers and constants whose bytes at launch hold throughout, because the kernel never writes them."""

    def __init__(
        self,
        kernel: Kernel,
        launch: Launch,
        written: set[Variable],
        constants: Iterable[Initializer],
        inputs: Inputs | None = None,
    ) -> None:
        self._launch = launch
        self._inputs: Inputs = {} if inputs is None else inputs
        self._written = written
        self._parameters = set(kernel.parameters)
        self._constants = {it.variable: None if it.addresses else it.data for it in constants}
        self._bytes: dict[Variable, Any] = {}
        self.used: set[str] = set()
        """Arguments whose contents were read."""

    def contents(self, root: Variable) -> Any:
        """Return the bytes of a buffer as a uint8 array, or `Unknown`."""
        if root not in self._bytes:
            self._bytes[root] = self._find(root)
        return self._bytes[root]

    def _find(self, root: Variable) -> Any:
        if root.kind is VariableKind.CONSTANT_OBJECT and root not in self._written:
            data = self._constants.get(root)
            return Unknown(f"the values of `{root.name}`") if data is None else np.frombuffer(data, np.uint8)
        if root.kind is VariableKind.LOCAL_OBJECT or root not in self._parameters:
            return Unknown(f"data in `{root.name}`")
        if root in self._written:
            return Unknown(f"data in `{root.name}`, which the kernel changes")
        argument = self._launch.arguments.get(root.name)
        if isinstance(argument, ScalarArgument) and root.name not in self._launch.inferred:
            return np.frombuffer(scalar_bytes(argument, root.type), np.uint8)  # A struct passed by value.
        if not isinstance(argument, BufferArgument):
            return Unknown(f"data in `{root.name}`")
        if root.name in self._launch.inferred:
            return Unknown(f"data in `{root.name}`, which the launch does not give")
        if root.name in self._inputs:
            return self._inputs[root.name]
        try:
            made = buffer_contents(argument, root.type, limit_bytes=_LIMIT_BYTES, python_limit=_PYTHON_LIMIT)
        except LaunchError as error:
            return Unknown(f"data in `{root.name}`: {error.cause}")
        self._inputs[root.name] = made
        return made

    def load(self, pointer: Pointer, kind: Type, mask: Mask, space: Space) -> Value:
        """Return what a load of type `kind` reads. Raises: SplitError, NotRegularError."""
        if pointer.root is SEVERAL:
            return Unknown("data read through a pointer that points to one of several buffers")
        data = self.contents(pointer.root)
        if isinstance(data, Unknown):
            return data
        if pointer.root in self._parameters:
            self.used.add(pointer.root.name)
        if isinstance(kind, VectorType):
            step = kind.element.size
            lanes = [
                self._scalar(data, pointer, i * step, kind.element, mask, space) for i in range(kind.lanes)
            ]
            return Lanes(tuple(it if isinstance(it, Sym | Floats | Unknown) else Unknown("") for it in lanes))
        if isinstance(kind, ScalarType):
            return self._scalar(data, pointer, 0, kind, mask, space)
        return Unknown(f"a value of type {kind} in `{pointer.root.name}`")

    def _scalar(
        self, data: Any, pointer: Pointer, extra: int, scalar: ScalarType, mask: Mask, space: Space
    ) -> Value:
        size = max(scalar.size, 1)
        if pointer.offset.is_uniform and not scalar.is_float:
            at_once = self._one(data, pointer.offset.const + extra, scalar, size)
            if at_once is not None:
                return at_once
        offsets = spread_out(pointer.offset, space) + extra
        at, rest = offsets // size, offsets % size
        table = data[: len(data) - len(data) % size].view(numpy_dtype(scalar))
        bad = (at < 0) | (at >= len(table)) | (rest != 0)
        if bool(np.any(bad & mask)):
            return Unknown(f"a read outside `{pointer.root.name}`, or between its elements")
        if not len(table):
            return Unknown(f"`{pointer.root.name}` is empty")
        values = table[np.clip(at, 0, len(table) - 1)]
        if scalar.is_float:
            return Floats(values)
        return of_array(values.astype(np.int64))

    def _one(self, data: Any, offset: int, scalar: ScalarType, size: int) -> Sym | None:
        """Return the integer that all read at one place, if it is one: tables are read so in most turns."""
        if offset % size or not 0 <= offset <= len(data) - size:
            return None
        return Sym(int(data[offset : offset + size].view(numpy_dtype(scalar)).astype(np.int64)[0]))


_MAX_PLACES = 256


def places(offset: Sym, mask: Mask, space: Space) -> list[tuple[int, Mask]]:
    """Return the byte offsets into a private object that work-items use, each with who uses it.

    Raises: SplitError, NotRegularError, OverBudgetError.
    """
    if offset.is_uniform:
        return [(offset.const, mask)]
    offsets = spread_out(offset, space)
    if not isinstance(mask, bool):
        affordable(offsets, mask)
        shown, active = np.broadcast_arrays(offsets, mask)
        used = distinct(shown[active])
    else:
        used = distinct(offsets)
    if len(used) > _MAX_PLACES:
        raise OverBudgetError(
            f"a private array of which more than {_MAX_PLACES} places are used", by_size=False
        )
    return [(at, both(mask, simplified(np.equal(offsets, at)))) for at in used.tolist()]
