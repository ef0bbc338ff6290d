"""What the worker process may no longer ask of the system: no sockets, no processes, no writing of files.

On Linux (x86-64 and 64-bit Arm) a seccomp filter of our own refuses those system calls to all threads, for
good. Elsewhere nothing of the kind is applied, and `apply` says so: there only the limits of `limits` hold.
Reading files stays possible, for Python's own imports; kernels have no way to ask for it.

The filter refuses what is listed and lets the rest pass: a list of what is allowed would break with every new
version of Python or the C library. Source: Linux manual pages seccomp(2) and bpf(4), kernel tables of system
calls (arch/x86/entry/syscalls/syscall_64.tbl, include/uapi/asm-generic/unistd.h).
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys
from collections.abc import Sequence
from dataclasses import dataclass

_EPERM, _EACCES, _ENOSYS = 1, 13, 38
_LOAD, _JUMP_EQUAL, _JUMP_ANY_BIT, _JUMP_AT_LEAST, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_CLONE_THREAD = 0x10000
_WRITING = 0o3 | 0o100 | 0o1000
"""O_WRONLY, O_RDWR, O_CREAT, O_TRUNC."""


@dataclass(frozen=True, slots=True)
class _Machine:
    audit: int
    getpid: int
    seccomp: int
    clone: int
    tgkill: int
    openat: int
    open: int | None
    """The old call without a folder, on x86-64 only."""
    refused: tuple[int, ...]


# Alike on both since Linux 5.1: pidfd_send_signal, io_uring (3), pidfd_open, pidfd_getfd, fchmodat2.
_REFUSED_ANYWHERE = (424, 425, 426, 427, 434, 438, 452)
_HIDDEN = (435, 437)
"""clone3 and openat2 pass flags in memory, where no filter sees them: callers fall back without them."""

_MACHINES = {
    "x86_64": _Machine(
        0xC000003E, 39, 317, 56, 234, 257, 2,
        (
            # socket, socketpair, connect, bind, listen, accept (2), sendto, sendmsg, sendmmsg
            41, 53, 42, 49, 50, 43, 288, 44, 46, 307,
            # execve, execveat, fork, vfork, ptrace, process_vm_readv and writev, kill, tkill, rt_sigqueueinfo
            59, 322, 57, 58, 101, 310, 311, 62, 200, 129,
            # creat, unlink, rename, mkdir, rmdir, symlink, link, mknod and their forms with a folder
            85, 87, 263, 82, 264, 316, 83, 258, 84, 88, 266, 86, 265, 133, 259,
            # chmod and chown in all forms, truncate, setxattr
            90, 91, 268, 92, 93, 94, 260, 76, 188, 189, 190,
            # mount, umount2, chroot, pivot_root, unshare, setns, bpf, perf_event_open, userfaultfd, keys
            165, 166, 161, 155, 272, 308, 321, 298, 323, 248, 249, 250,
            # modules, kexec, reboot, swap, clocks, host name, file handles, memfd_create, personality, …
            175, 313, 176, 246, 320, 169, 167, 168, 164, 227, 159, 170, 304, 319, 135, 163, 179,
        ),
    ),
    "aarch64": _Machine(
        0xC00000B7, 172, 277, 220, 131, 56, None,
        (  # The same, line by line; the forms without a folder do not exist here.
            198, 199, 203, 200, 201, 202, 242, 206, 211, 269,
            221, 281, 117, 270, 271, 129, 130, 138,
            35, 38, 276, 34, 36, 37, 33,
            52, 53, 55, 54, 45, 5, 6, 7,
            40, 39, 51, 41, 97, 268, 280, 241, 282, 217, 218, 219,
            105, 273, 106, 104, 294, 142, 224, 225, 170, 112, 171, 161, 265, 279, 92, 89, 60,
        ),
    ),
}  # fmt: skip

RESTRICTIONS = ("network", "processes", "writing files")


def apply() -> tuple[str, ...]:
    """Restrict this process for good. Returns the restrictions that this platform does not offer."""
    machine = _machine()
    if machine is None or not _install(_program(machine, os.getpid()), machine):
        return RESTRICTIONS
    return ()


def description() -> str:
    """Return what a worker on this platform is held to, for people."""
    if _machine() is not None:
        return (
            "worker: limits on memory, files and time; seccomp: no network, no processes, no writing of files"
        )
    if sys.platform == "win32":
        return "worker: limits on time only; this platform offers us no limit on network or files"
    return "worker: limits on memory, files and time; no limit on network or files on this platform"


def _machine() -> _Machine | None:
    if sys.platform != "linux" or struct.calcsize("P") != 8:
        return None
    return _MACHINES.get(platform.machine())


def _program(machine: _Machine, pid: int) -> bytes:
    """Return the filter, in the kernel's classic BPF."""
    code = [
        _op(_LOAD, _ARCHITECTURE),
        _op(_JUMP_EQUAL, machine.audit, then=1),
        _op(_RETURN, _KILL),
        _op(_LOAD, _NUMBER),
        *(
            [_op(_JUMP_AT_LEAST, 0x40000000, otherwise=1), _op(_RETURN, _ERRNO | _EPERM)]
            if machine.open
            else []
        ),
    ]
    for number in (*machine.refused, *_REFUSED_ANYWHERE):
        code += _when(number, [_op(_RETURN, _ERRNO | _EPERM)])
    for number in _HIDDEN:
        code += _when(number, [_op(_RETURN, _ERRNO | _ENOSYS)])
    code += _when(machine.clone, _unless_bits(0, _CLONE_THREAD))
    opens = [(machine.openat, 2)] + ([(machine.open, 1)] if machine.open is not None else [])
    for number, argument in opens:
        code += _when(number, _if_bits(argument, _WRITING))
    # Signals to its own threads are how abort() ends a process.
    code += _when(
        machine.tgkill,
        [
            _op(_LOAD, _ARGUMENTS),
            _op(_JUMP_EQUAL, pid, otherwise=1),
            _op(_RETURN, _ALLOW),
            _op(_RETURN, _ERRNO | _EPERM),
        ],
    )
    return b"".join([*code, _op(_RETURN, _ALLOW)])


def _op(code: int, value: int, *, then: int = 0, otherwise: int = 0) -> bytes:
    return struct.pack("<HBBI", code, then, otherwise, value)


def _when(number: int, body: Sequence[bytes]) -> list[bytes]:
    """Return code that runs `body` for one system call; `body` must end in returns."""
    return [_op(_JUMP_EQUAL, number, otherwise=len(body)), *body]


def _if_bits(argument: int, bits: int) -> list[bytes]:
    return [
        _op(_LOAD, _ARGUMENTS + 8 * argument),
        _op(_JUMP_ANY_BIT, bits, otherwise=1),
        _op(_RETURN, _ERRNO | _EACCES),
        _op(_RETURN, _ALLOW),
    ]


def _unless_bits(argument: int, bits: int) -> list[bytes]:
    return [
        _op(_LOAD, _ARGUMENTS + 8 * argument),
        _op(_JUMP_ANY_BIT, bits, otherwise=1),
        _op(_RETURN, _ALLOW),
        _op(_RETURN, _ERRNO | _EPERM),
    ]


def _has_these_numbers(libc: ctypes.CDLL, machine: _Machine) -> bool:
    """Tell whether this process asks for system calls by the numbers of `machine`."""
    return bool(libc.syscall(ctypes.c_long(machine.getpid)) == os.getpid())


class _Filter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_void_p))


def _install(program: bytes, machine: _Machine) -> bool:
    """Hand the filter to the kernel, for every thread; False where it refuses (containers may forbid it).

    Also False, before anything is done, where the numbers turn out to be those of another architecture: such
    a filter would refuse other calls than those that it means.
    """
    try:
        libc = ctypes.CDLL(None, use_errno=True)
    except OSError:
        return False
    if not _has_these_numbers(libc, machine):
        return False
    code = ctypes.create_string_buffer(program, len(program))
    described = _Filter(len(program) // 8, ctypes.addressof(code))
    no_new_privileges, set_filter, all_threads = 38, 1, 1
    long = ctypes.c_long
    if libc.prctl(no_new_privileges, long(1), long(0), long(0), long(0)) != 0:
        return False
    done = libc.syscall(long(machine.seccomp), long(set_filter), long(all_threads), ctypes.byref(described))
    return bool(done == 0)
