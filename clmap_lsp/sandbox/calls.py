"""System calls that a confined process may make, by their numbers on each architecture.

What is not listed here is refused, also what kernels to come will bring. The list is what Python, NumPy and
LLVM ask for between reading a kernel and answering, found by tracing them and by the tests, which run all of
the emulator under it.

Sources: the kernel's tables of system calls (arch/x86/entry/syscalls/syscall_64.tbl and
include/uapi/asm-generic/unistd.h); the tests hold the numbers against the headers.
"""

from __future__ import annotations

from collections.abc import Mapping

from clmap_lsp.dataclass import dataclass

X86_64, AARCH64 = "x86_64", "aarch64"

FREE: Mapping[str, tuple[int | None, int | None]] = {
    # The most frequent first: a filter is a list of comparisons.
    "newfstatat": (262, 79),
    "clock_gettime": (228, 113),
    "munmap": (11, 215),
    "futex": (202, 98),
    "brk": (12, 214),
    "mmap": (9, 222),
    "mprotect": (10, 226),
    "madvise": (28, 233),
    "mremap": (25, 216),
    "read": (0, 63),
    "write": (1, 64),
    "close": (3, 57),
    "lseek": (8, 62),
    "fstat": (5, 80),
    "stat": (4, None),
    "lstat": (6, None),
    "statx": (332, 291),
    "pread64": (17, 67),
    "readv": (19, 65),
    "writev": (20, 66),
    "getdents64": (217, 61),
    "getcwd": (79, 17),
    "readlink": (89, None),
    "readlinkat": (267, 78),
    "access": (21, None),
    "faccessat": (269, 48),
    "faccessat2": (439, 439),
    "fadvise64": (221, 223),
    "dup": (32, 23),
    "poll": (7, None),
    "ppoll": (271, 73),
    # Time, chance, who and where one is.
    "clock_getres": (229, 114),
    "clock_nanosleep": (230, 115),
    "nanosleep": (35, 101),
    "gettimeofday": (96, 169),
    "time": (201, None),
    "times": (100, 153),
    "getrusage": (98, 165),
    "getrandom": (318, 278),
    "getpid": (39, 172),
    "getppid": (110, 173),
    "gettid": (186, 178),
    "getuid": (102, 174),
    "geteuid": (107, 175),
    "getgid": (104, 176),
    "getegid": (108, 177),
    "uname": (63, 160),
    "sysinfo": (99, 179),
    "getrlimit": (97, 163),
    "getcpu": (309, 168),
    "sched_yield": (24, 124),
    "sched_getaffinity": (204, 123),
    # Threads and signals of one's own.
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "sigaltstack": (131, 132),
    "restart_syscall": (219, 128),
    "set_robust_list": (273, 99),
    "rseq": (334, 293),
    "membarrier": (324, 283),
    "exit": (60, 93),
    "exit_group": (231, 94),
}
"""Allowed whatever their arguments are."""

CHECKED: Mapping[str, tuple[int | None, int | None]] = {
    "openat": (257, 56),
    "open": (2, None),
    "fcntl": (72, 25),
    "prlimit64": (302, 261),
    "clone": (56, 220),
    "tgkill": (234, 131),
}
"""Allowed with some arguments only, see `filters`."""

HIDDEN: Mapping[str, tuple[int | None, int | None]] = {
    "clone3": (435, 435),
    "openat2": (437, 437),
}
"""They pass their flags in memory, where no filter sees them: callers fall back to the older calls."""

NO_TERMINALS: Mapping[str, tuple[int | None, int | None]] = {"ioctl": (16, 29)}
"""Answered as for files that are no devices: that is how programs ask whether they write to a terminal."""

DRIVERS: Mapping[str, tuple[int | None, int | None]] = {
    # Files: Landlock says where.
    "creat": (85, None),
    "mkdir": (83, None),
    "mkdirat": (258, 34),
    "unlink": (87, None),
    "unlinkat": (263, 35),
    "rmdir": (84, None),
    "rename": (82, None),
    "renameat": (264, 38),
    "renameat2": (316, 276),
    "link": (86, None),
    "linkat": (265, 37),
    "symlink": (88, None),
    "symlinkat": (266, 36),
    "ftruncate": (77, 46),
    "truncate": (76, 45),
    "fallocate": (285, 47),
    "pwrite64": (18, 68),
    "fsync": (74, 82),
    "fdatasync": (75, 83),
    "umask": (95, 166),
    "chdir": (80, 49),
    "fchdir": (81, 50),
    "flock": (73, 32),
    "statfs": (137, 43),
    "fstatfs": (138, 44),
    "getdents": (78, None),
    "copy_file_range": (326, 285),
    "sendfile": (40, 71),
    # The driver's compiler and linker run as processes of their own, which inherit all this.
    "vfork": (58, None),
    "fork": (57, None),
    "execve": (59, 221),
    "wait4": (61, 260),
    "waitid": (247, 95),
    "pipe": (22, None),
    "pipe2": (293, 59),
    "dup2": (33, None),
    "dup3": (292, 24),
    "select": (23, None),
    "pselect6": (270, 72),
    "eventfd2": (290, 19),
    "set_tid_address": (218, 96),
    "arch_prctl": (158, None),
    "prctl": (157, 167),
    "getpgrp": (111, None),
    "getpgid": (121, 155),
    "getgroups": (115, 158),
    "getresuid": (118, 148),
    "getresgid": (120, 150),
    "capget": (125, 90),
    "sched_setaffinity": (203, 122),
    "sched_getparam": (143, 121),
    "sched_getscheduler": (145, 120),
    "sched_get_priority_max": (146, 125),
    "sched_get_priority_min": (147, 126),
    "mincore": (27, 232),
    "msync": (26, 227),
    "mlock": (149, 228),
    "munlock": (150, 229),
    "mbind": (237, 235),
    "get_mempolicy": (239, 236),
    "set_mempolicy": (238, 237),
    "get_robust_list": (274, 100),
    "timer_create": (222, 107),
    "timer_settime": (223, 110),
    "timer_delete": (226, 111),
    "epoll_create1": (291, 20),
    "epoll_ctl": (233, 21),
    "epoll_pwait": (281, 22),
}
"""What a driver that compiles for this very processor asks for besides.

Not among them is what Landlock does not judge: rights, owners, times and attributes of files.
"""


@dataclass(frozen=True, slots=True)
class Machine:
    """An architecture, as seccomp(2) tells them apart."""

    name: str
    audit: int
    seccomp: int
    newest: int = 463
    """System calls from here on were made after this list: callers expect that a kernel lacks them."""

    def numbers(self, calls: Mapping[str, tuple[int | None, int | None]]) -> dict[str, int]:
        """Return the numbers of those calls that exist here."""
        at = 0 if self.name == X86_64 else 1
        return {name: number for name, both in calls.items() if (number := both[at]) is not None}


MACHINES = {
    X86_64: Machine(X86_64, 0xC000003E, 317),
    AARCH64: Machine(AARCH64, 0xC00000B7, 277),
}
