"""What pipes are given to and with what, held to the rules in clang's words.

Source: OpenCL C Specification 2.0, 6.13.16 (pipe functions).
"""

from __future__ import annotations

from collections.abc import Sequence

from clmap_lsp.index.compatible import Value
from clmap_lsp.index.model import Kind
from clmap_lsp.index.types import (
    Pipe,
    Pointer,
    Qualified,
    Unknown,
    base_of,
    canonical,
    decayed,
    is_integer,
    spelled,
    unqualified,
)
from clmap_lsp.source.types import OpaqueType

_ABOUT = frozenset({"get_pipe_num_packets", "get_pipe_max_packets"})
_MOVING = frozenset({"read_pipe", "write_pipe"})
_RESERVING = ("reserve_read_pipe", "reserve_write_pipe")
_COMMITTING = ("commit_read_pipe", "commit_write_pipe")
_GROUPS = ("", "work_group_", "sub_group_")
_IN_TWO_PARTS = {
    **{group + name: "uint" for group in _GROUPS for name in _RESERVING},
    **{group + name: "reserve_id_t" for group in _GROUPS for name in _COMMITTING},
}
"""Functions that take a pipe and this."""


def pipe_fault(name: str, arguments: Sequence[Value]) -> tuple[int, str] | None:
    """Return which argument of a call that is about a pipe is wrong, -1 for the call itself, and how."""
    if name not in _ABOUT and name not in _MOVING and name not in _IN_TWO_PARTS:
        return None
    given = len(arguments)
    if name in _MOVING and given not in (2, 4):
        return -1, f"invalid number of arguments to function: '{name}'"
    wanted = 1 if name in _ABOUT else 2
    if name not in _MOVING and given != wanted:
        which = "few" if given < wanted else "many"
        return -1, f"too {which} arguments to function call, expected {wanted}, have {given}"
    pipe = base_of(arguments[0].type)
    if not isinstance(pipe, Pipe):
        is_open = isinstance(pipe, Unknown)
        return None if is_open else (0, f"first argument to '{name}' must be a pipe type")
    root = arguments[0].root
    access, needed = arguments[0].type.access or "read_only", _needed_access(name)
    # Xilinx has pipes in program scope too, which kernels on both ends share.
    if root is not None and root.kind is Kind.PARAMETER and needed not in (None, access):
        return 0, f"invalid pipe access modifier (expecting {needed})"
    kinds = [_IN_TWO_PARTS[name]] if name in _IN_TWO_PARTS else []
    if name in _MOVING:
        kinds = ["packet"] if given == 2 else ["reserve_id_t", "uint", "packet"]
    for number, kind in enumerate(kinds, 1):
        if not _is_of(kind, arguments[number].type, pipe):
            expected = f"{_packet_name(pipe)} *" if kind == "packet" else kind.replace("uint", "unsigned int")
            having = spelled(decayed(arguments[number].type))
            said = f"invalid argument type to function '{name}' (expecting '{expected}' having '{having}')"
            return number, said
    return None


def _needed_access(name: str) -> str | None:
    if name in _ABOUT:
        return None
    return "read_only" if "read_pipe" in name else "write_only"


def _packet_name(pipe: Pipe) -> str:
    return "" if pipe.packet is None else spelled(unqualified(pipe.packet))


def _is_of(kind: str, given: Qualified, pipe: Pipe) -> bool:
    """Tell whether an argument may be one of a kind: a number, a reservation, or where a packet is."""
    base = base_of(decayed(given))
    if isinstance(base, Unknown):
        return True
    match kind:
        case "uint":
            return is_integer(base)
        case "reserve_id_t":
            return isinstance(base, OpaqueType) and base.name == kind
        case _:
            if not isinstance(base, Pointer):
                return False
            packet = None if pipe.packet is None else canonical(pipe.packet).base
            pointee = canonical(base.pointee).base
            return packet is None or Unknown in (type(packet), type(pointee)) or packet == pointee
