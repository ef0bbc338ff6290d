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
    fcntl: int
    prlimit: int
    open: int | None
    """The old call without a folder, on x86-64 only."""
    refused: tuple[int, ...]


# Alike on both since Linux 5.1: pidfd_send_signal, io_uring (3), open_tree, move_mount, fsopen, fsconfig,
# fsmount, fspick, pidfd_open, pidfd_getfd, process_madvise, mount_setattr, quotactl_fd, memfd_secret,
# process_mrelease, fchmodat2, setxattrat, removexattrat, and what later kernels add.
_REFUSED_ANYWHERE = (
    *(424, 425, 426, 427, 428, 429, 430, 431, 432, 433, 434, 438, 440, 442, 443, 447, 448, 452, 463, 466),
)
_NEWEST = 467
"""System calls from here on are not known to this filter, and refused."""
_FCNTL_REFUSED = (8, 10, 15, 1024, 1026)
"""F_SETOWN, F_SETSIG, F_SETOWN_EX, F_SETLEASE, F_NOTIFY: signals to others, at a time of the caller's."""
_O_ASYNC = 0o20000
_HIDDEN = (435, 437)
"""clone3 and openat2 pass flags in memory, where no filter sees them: callers fall back without them."""

_MACHINES = {
    "x86_64": _Machine(
        0xC000003E, 39, 317, 56, 234, 257, 72, 302, 2,
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
            # rt_tgsigqueueinfo, setrlimit, setpriority, sched_setparam, setscheduler, setaffinity, setattr
            297, 160, 141, 142, 144, 203, 314,
            # shared memory, semaphores and message queues of System V and POSIX
            29, 30, 31, 67, 64, 65, 66, 220, 68, 69, 70, 71, 240, 241, 242, 243, 244, 245,
            # utime, utimes, futimesat, utimensat, removexattr (3), fanotify_init, syslog, ioprio_set, …
            132, 235, 261, 280, 197, 198, 199, 300, 301, 103, 251, 171, 172, 173, 153, 212, 237, 256, 279,
            # kcmp, name_to_handle_at, setuid and its like
            312, 303, 105, 106, 113, 114, 116, 117, 119, 122, 123, 126,
        ),
    ),
    "aarch64": _Machine(
        0xC00000B7, 172, 277, 220, 131, 56, 25, 261, None,
        (  # The same, line by line; the forms without a folder do not exist here.
            198, 199, 203, 200, 201, 202, 242, 206, 211, 269,
            221, 281, 117, 270, 271, 129, 130, 138,
            35, 38, 276, 34, 36, 37, 33,
            52, 53, 55, 54, 45, 5, 6, 7,
            40, 39, 51, 41, 97, 268, 280, 241, 282, 217, 218, 219,
            105, 273, 106, 104, 294, 142, 224, 225, 170, 112, 171, 161, 265, 279, 92, 89, 60,
            240, 164, 140, 118, 119, 122, 274,
            194, 195, 196, 197, 190, 191, 192, 193, 186, 187, 188, 189, 180, 181, 182, 183, 184, 185,
            88, 14, 15, 16, 262, 263, 116, 30, 162, 58, 18, 235, 238, 239,
            272, 264, 143, 144, 145, 146, 147, 149, 151, 152, 159, 91,
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
    code += [_op(_JUMP_AT_LEAST, _NEWEST, otherwise=1), _op(_RETURN, _ERRNO | _ENOSYS)]
    for number in (*machine.refused, *_REFUSED_ANYWHERE):
        code += _when(number, [_op(_RETURN, _ERRNO | _EPERM)])
    for number in _HIDDEN:
        code += _when(number, [_op(_RETURN, _ERRNO | _ENOSYS)])
    code += _when(machine.clone, _unless_bits(0, _CLONE_THREAD))
    opens = [(machine.openat, 2)] + ([(machine.open, 1)] if machine.open is not None else [])
    for number, argument in opens:
        code += _when(number, _if_bits(argument, _WRITING))
    code += _when(machine.fcntl, _fcntl())
    # Limits may be asked for, not set: nobody's. The third argument is where the new ones stand.
    code += _when(machine.prlimit, _if_pointer(2))
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


def _fcntl() -> list[bytes]:
    """Refuse to have signals sent by files, to this process or another."""
    refused = [_op(_RETURN, _ERRNO | _EPERM)]
    code = [_op(_LOAD, _ARGUMENTS + 8)]
    for command in _FCNTL_REFUSED:
        code += _when(command, refused)
    flags = [_op(_LOAD, _ARGUMENTS + 16), _op(_JUMP_ANY_BIT, _O_ASYNC, otherwise=1), *refused]
    code += _when(4, [*flags, _op(_RETURN, _ALLOW)])  # F_SETFL
    return [*code, _op(_RETURN, _ALLOW)]


def _if_pointer(argument: int) -> list[bytes]:
    """Refuse the call where a 64-bit argument is not null."""
    low, high = _ARGUMENTS + 8 * argument, _ARGUMENTS + 8 * argument + 4
    return [
        _op(_LOAD, low),
        _op(_JUMP_EQUAL, 0, otherwise=2),
        _op(_LOAD, high),
        _op(_JUMP_EQUAL, 0, then=1),
        _op(_RETURN, _ERRNO | _EPERM),
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
