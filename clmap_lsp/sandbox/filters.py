"""A seccomp filter in the kernel's classic BPF: allows what `calls` lists, refuses all else.

Sources: Linux manual pages seccomp(2) and bpf(4).
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Mapping, Sequence

from clmap_lsp.sandbox.calls import CHECKED, DRIVERS, FREE, HIDDEN, NO_TERMINALS, X86_64, Machine

_EPERM, _EACCES, _ENOTTY, _ENOSYS = 1, 13, 25, 38
_LOAD, _JUMP_EQUAL, _JUMP_ANY_BIT, _JUMP_AT_LEAST, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_X32 = 0x40000000
"""On x86-64, the bit of system calls with 32-bit pointers, which have meanings of their own."""

_WRITING = 0o3 | 0o100 | 0o1000 | 0o20000000
"""O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, O_TMPFILE."""
_CLONE_THREAD = 0x10000
_OF_THREADS = 0x7D0F00
"""The flags that C libraries start threads with; others make processes and name spaces."""
_FCNTL = (0, 1, 2, 3, 5, 6, 7, 36, 37, 38, 1030)
"""F_DUPFD, F_GETFD, F_SETFD, F_GETFL, locks on files (SQLite), F_DUPFD_CLOEXEC; F_SETFL has a rule."""
_RLIMIT_DATA = 2
_F_SETFL, _O_ASYNC = 4, 0o20000


def program(machine: Machine, pid: int, *, for_driver: bool = False) -> bytes:
    """Return the filter of the process `pid`.

    Args:
        for_driver: allow files to be written and processes to be started too, and devices to be asked.
    """
    free = machine.numbers(FREE)
    refused = _op(_RETURN, _ERRNO | _EPERM)
    code = [
        _op(_LOAD, _ARCHITECTURE),
        _op(_JUMP_EQUAL, machine.audit, then=1),
        _op(_RETURN, _KILL),
        _op(_LOAD, _NUMBER),
    ]
    if machine.name == X86_64:
        code += [_op(_JUMP_AT_LEAST, _X32, otherwise=1), refused]
    if for_driver:
        free |= machine.numbers(DRIVERS) | machine.numbers(NO_TERMINALS)
    else:
        for number in machine.numbers(NO_TERMINALS).values():
            code += _when(number, [_op(_RETURN, _ERRNO | _ENOTTY)])
    for number in free.values():
        code += _when(number, [_op(_RETURN, _ALLOW)])
    code += _checked(machine.numbers(CHECKED), pid, for_driver=for_driver)
    for number in machine.numbers(HIDDEN).values():
        code += _when(number, [_op(_RETURN, _ERRNO | _ENOSYS)])
    code += [_op(_JUMP_AT_LEAST, machine.newest, otherwise=1), _op(_RETURN, _ERRNO | _ENOSYS)]
    return b"".join([*code, refused])


def _checked(calls: Mapping[str, int], pid: int, *, for_driver: bool) -> list[bytes]:
    """Return the rules of calls that are allowed with some arguments only."""
    code: list[bytes] = []
    for name, flags in (("openat", 2), ("open", 1)):
        if name in calls:
            allowed = [_op(_RETURN, _ALLOW)]
            code += _when(calls[name], allowed if for_driver else _unless_any(flags, _WRITING, _EACCES))
    code += _when(calls["fcntl"], _fcntl())
    code += _when(calls["prlimit64"], _limits())
    processes = [_op(_RETURN, _ALLOW)] if for_driver else _threads_only()
    code += _when(calls["clone"], processes)
    # Signals to its own threads are how abort() ends a process.
    code += _when(calls["tgkill"], _if_equal(0, pid))
    return code


def _op(code: int, value: int, *, then: int = 0, otherwise: int = 0) -> bytes:
    return struct.pack("<HBBI", code, then, otherwise, value)


def _when(number: int, body: Sequence[bytes]) -> list[bytes]:
    """Return code that runs `body` for one system call; `body` must end in returns."""
    return [_op(_JUMP_EQUAL, number, otherwise=len(body)), *body]


def _unless_any(argument: int, bits: int, error: int) -> list[bytes]:
    return [
        _op(_LOAD, _ARGUMENTS + 8 * argument),
        _op(_JUMP_ANY_BIT, bits, otherwise=1),
        _op(_RETURN, _ERRNO | error),
        _op(_RETURN, _ALLOW),
    ]


def _threads_only() -> list[bytes]:
    return [
        _op(_LOAD, _ARGUMENTS),
        _op(_JUMP_ANY_BIT, ~_OF_THREADS & 0xFFFFFFFF, then=2),
        _op(_JUMP_ANY_BIT, _CLONE_THREAD, otherwise=1),
        _op(_RETURN, _ALLOW),
        _op(_RETURN, _ERRNO | _EPERM),
    ]


def _fcntl() -> list[bytes]:
    """Allow what concerns the file alone; having files send signals, to whomever, is refused."""
    allowed, refused = [_op(_RETURN, _ALLOW)], [_op(_RETURN, _ERRNO | _EPERM)]
    code = [_op(_LOAD, _ARGUMENTS + 8)]
    for command in _FCNTL:
        code += _when(command, allowed)
    flags = [_op(_LOAD, _ARGUMENTS + 16), _op(_JUMP_ANY_BIT, _O_ASYNC, otherwise=1), *refused, *allowed]
    return [*code, *_when(_F_SETFL, flags), *refused]


def _limits() -> list[bytes]:
    """Allow limits to be asked for. None is set, nobody's, but that on its own data: the emulator lowers it.

    The arguments are a process (0: the own one), a limit, and where its new value stands.
    """
    return [
        _op(_LOAD, _ARGUMENTS + 8),
        _op(_JUMP_EQUAL, _RLIMIT_DATA, otherwise=3),
        _op(_LOAD, _ARGUMENTS),
        _op(_JUMP_EQUAL, 0, otherwise=1),
        _op(_RETURN, _ALLOW),
        *_if_null(2),
    ]


def _if_null(argument: int) -> list[bytes]:
    """Allow the call where a 64-bit argument is null."""
    low, high = _ARGUMENTS + 8 * argument, _ARGUMENTS + 8 * argument + 4
    return [
        _op(_LOAD, low),
        _op(_JUMP_EQUAL, 0, otherwise=2),
        _op(_LOAD, high),
        _op(_JUMP_EQUAL, 0, then=1),
        _op(_RETURN, _ERRNO | _EPERM),
        _op(_RETURN, _ALLOW),
    ]


def _if_equal(argument: int, value: int) -> list[bytes]:
    return [
        _op(_LOAD, _ARGUMENTS + 8 * argument),
        _op(_JUMP_EQUAL, value, otherwise=1),
        _op(_RETURN, _ALLOW),
        _op(_RETURN, _ERRNO | _EPERM),
    ]


class _Filter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_void_p))


def install(code: bytes, machine: Machine) -> bool:
    """Hand a filter to the kernel, for every thread; False where it refuses (containers may forbid it).

    Also False, before anything is done, where the numbers turn out to be those of another architecture: such
    a filter would refuse other calls than those that it means.
    """
    try:
        libc = ctypes.CDLL(None, use_errno=True)
    except OSError:
        return False
    if not _has_these_numbers(libc, machine) or not forgo_privileges(libc):
        return False
    held = ctypes.create_string_buffer(code, len(code))
    described = _Filter(len(code) // 8, ctypes.addressof(held))
    set_filter, all_threads = 1, 1
    long = ctypes.c_long
    done = libc.syscall(long(machine.seccomp), long(set_filter), long(all_threads), ctypes.byref(described))
    return bool(done == 0)


def forgo_privileges(libc: ctypes.CDLL) -> bool:
    """Have no program that this process starts gain rights that it does not have."""
    no_new_privileges, long = 38, ctypes.c_long
    return bool(libc.prctl(no_new_privileges, long(1), long(0), long(0), long(0)) == 0)


def _has_these_numbers(libc: ctypes.CDLL, machine: Machine) -> bool:
    """Tell whether this process asks for system calls by the numbers of `machine`."""
    return bool(libc.syscall(ctypes.c_long(machine.numbers(FREE)["getpid"])) == os.getpid())
