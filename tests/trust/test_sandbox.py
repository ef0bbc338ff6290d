"""What a process may still do after `limits.apply` and `sandbox.apply`, tried in a forked child."""

from __future__ import annotations

import ctypes
import fcntl
import os
import re
import resource
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from clmap_lsp.worker import limits, sandbox

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="fork, procfs")


def restricted(action: Callable[[], object]) -> str:
    """Do something in a forked, restricted child; returns the name of what it raised, or `done`."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        try:
            missing = (*limits.apply(limits.Limits(memory_mb=256)), *sandbox.apply())
            answer = "no seccomp here" if missing else "done"
            if not missing:
                action()
        except BaseException as error:
            answer = type(error).__name__
        os.write(writing, answer.encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        answer = pipe.read().decode()
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    if answer == "no seccomp here":
        pytest.skip("this kernel or container does not let processes install filters")
    return answer


def call(name: str, *arguments: int) -> None:
    """Make a system call by its number; raises what the system says."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    found = numbers(os.uname().machine)[name]
    if libc.syscall(ctypes.c_long(found), *(ctypes.c_long(it) for it in arguments)) == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


@pytest.fixture
def victim() -> Iterator[int]:
    """Yield a process that another one may try to end or to change."""
    with subprocess.Popen(["sleep", "60"]) as process:
        yield process.pid
        assert process.poll() is None, "it was ended"
        process.kill()


@pytest.mark.parametrize(
    "attack",
    [
        lambda pid: call("rt_tgsigqueueinfo", pid, pid, 9, 0),
        lambda pid: fcntl.fcntl(os.pipe()[0], 8, pid),
        lambda pid: fcntl.fcntl(os.pipe()[0], 10, 9),
        lambda pid: fcntl.fcntl(os.pipe()[0], fcntl.F_SETFL, 0o20000),
        lambda pid: resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, 0)),
        lambda pid: resource.prlimit(pid, resource.RLIMIT_CPU, (1, 1)),
        lambda pid: resource.setrlimit(resource.RLIMIT_AS, (-1, -1)),
        lambda pid: os.sched_setaffinity(pid, {0}),
        lambda pid: os.setpriority(os.PRIO_PROCESS, pid, 19),
        lambda pid: os.kill(pid, 9),
        os.pidfd_open,
        lambda pid: os.utime("/tmp", (0, 0)),
        lambda pid: os.setxattr("/tmp", "user.x", b"x"),
        lambda pid: os.removexattr("/tmp", "user.x"),
        lambda pid: call("shmget", 1, 4096, 0o1666),
        lambda pid: call("msgget", 1, 0o1666),
        lambda pid: call("semget", 1, 1, 0o1666),
        lambda pid: call("fsopen", 0, 0),
        lambda pid: call("open_tree", -100, 0, 0),
        lambda pid: call("fanotify_init", 0, 0),
        lambda pid: call("syslog", 10, 0, 0),
        lambda pid: call("setuid", 0),
    ],
    ids=lambda it: None,
)
def test_other_processes_are_left_alone(attack: Callable[[int], object], victim: int):
    assert restricted(lambda: attack(victim)) in ("PermissionError", "ValueError")


def test_the_limit_of_memory_is_hard():
    def lift() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        bytearray(2**30)

    assert restricted(lift) in ("PermissionError", "ValueError")


def in_a_thread() -> None:
    done: list[int] = []
    thread = threading.Thread(target=lambda: done.append(1))
    thread.start()
    thread.join()
    assert done == [1]


@pytest.mark.parametrize(
    "action",
    [
        lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM),
        lambda: socket.socket(socket.AF_INET6, socket.SOCK_DGRAM),
        lambda: socket.socket(socket.AF_UNIX, socket.SOCK_STREAM),
        socket.socketpair,
        os.fork,
        lambda: os.execv("/bin/true", ["true"]),
        lambda: subprocess.run(["/bin/true"], check=True),
        lambda: os.posix_spawn("/bin/true", ["true"], {}),
        lambda: os.kill(os.getppid(), 0),
        lambda: Path("/tmp/clmap-attack").write_text("x"),
        lambda: os.open("/tmp/clmap-attack", os.O_RDWR | os.O_CREAT),
        lambda: os.open("/tmp", os.O_TMPFILE | os.O_WRONLY),
        lambda: os.memfd_create("x"),
        Path("/tmp/clmap-attack-folder").mkdir,
        lambda: Path("/etc/hostname").rename("/tmp/x"),
        Path("/tmp/nothing-here").unlink,
        lambda: Path("/tmp").chmod(0o1777),
        lambda: Path("/tmp/clmap-attack-link").symlink_to("/etc/passwd"),
        lambda: os.truncate("/tmp/nothing-here", 0),
    ],
    ids=lambda it: None,
)
def test_is_refused(action: Callable[[], object]):
    assert restricted(action) == "PermissionError"


@pytest.mark.parametrize(
    "action",
    [
        lambda: Path("/proc/self/statm").read_bytes(),
        lambda: __import__("colorsys"),
        in_a_thread,
        lambda: bytearray(10 * 2**20),
    ],
)
def test_is_still_possible(action: Callable[[], object]):
    assert restricted(action) == "done"


def test_memory_is_limited():
    assert restricted(lambda: bytearray(2**30)) == "MemoryError"


def test_open_files_are_limited():
    assert restricted(lambda: [os.open("/dev/null", os.O_RDONLY) for _ in range(100)]) == "OSError"


def test_the_description_says_what_holds():
    assert "no network" in sandbox.description() or "no limit on network" in sandbox.description()


def test_elsewhere_every_restriction_is_named_as_missing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sandbox, "_machine", lambda: None)
    assert sandbox.apply() == sandbox.RESTRICTIONS


def test_a_filter_with_numbers_of_another_architecture_is_not_installed(monkeypatch: pytest.MonkeyPatch):
    other = next(
        it
        for name, it in sandbox._MACHINES.items()
        if it is not sandbox._machine() and name != os.uname().machine
    )
    monkeypatch.setattr(sandbox, "_machine", lambda: other)
    assert sandbox.apply() == sandbox.RESTRICTIONS
    with socket.socket():  # In this very process: nothing was installed.
        pass


# ------------------------------------------------------------------- every architecture, without its machine

HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}
PID = 4711


def numbers(machine: str) -> dict[str, int]:
    """Return the system calls of an architecture, from the kernel's own header."""
    if not HEADERS[machine].exists():
        pytest.skip("the kernel's headers are not installed")
    found = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", HEADERS[machine].read_text())
    return {name: int(number) for name, number in found}


def verdict(program: bytes, audit: int, number: int, *arguments: int) -> str:
    """Run a filter the way the kernel does (classic BPF, as seccomp(2) describes its input)."""
    data = struct.pack("<IIQ6Q", number, audit, 0, *(*arguments, 0, 0, 0, 0, 0, 0)[:6])
    code = [struct.unpack_from("<HBBI", program, at) for at in range(0, len(program), 8)]
    at = value = 0
    while True:
        kind, then, otherwise, k = code[at]
        at += 1
        match kind:
            case 0x20:
                (value,) = struct.unpack_from("<I", data, k)
            case 0x15:
                at += then if value == k else otherwise
            case 0x35:
                at += then if value >= k else otherwise
            case 0x45:
                at += then if value & k else otherwise
            case 0x06:
                return {0x7FFF0000: "allowed", 0x80000000: "killed"}.get(k, f"errno {k & 0xFFFF}")


@pytest.mark.parametrize("name", sorted(HEADERS))
def test_the_filter_of_each_architecture(name: str):
    machine, calls = sandbox._MACHINES[name], numbers(name)
    program = sandbox._program(machine, PID)

    def of(call: str, *arguments: int) -> str:
        return verdict(program, machine.audit, calls[call], *arguments)

    refused = (
        "socket socketpair connect bind listen sendto sendmsg execve execveat ptrace kill unlinkat mkdirat"
    )
    refused += " rt_tgsigqueueinfo sched_setaffinity sched_setscheduler setpriority utimensat shmget msgget"
    refused += " semget mq_open removexattr fanotify_init syslog fsopen open_tree setuid adjtimex acct"
    refused += " renameat2 fchmodat fchownat truncate mount unshare setns bpf memfd_create io_uring_setup"
    assert {it: of(it) for it in refused.split()} == dict.fromkeys(refused.split(), "errno 1")
    allowed = "read write close mmap munmap mprotect futex exit exit_group getpid lseek brk clock_gettime"
    assert {it: of(it) for it in allowed.split()} == dict.fromkeys(allowed.split(), "allowed")
    for command in (8, 10, 15, 1024, 1026):  # F_SETOWN, F_SETSIG and their like
        assert of("fcntl", 0, command, 1) == "errno 1"
    assert [of("fcntl", 0, 4, it) for it in (0o4000, 0o20000)] == ["allowed", "errno 1"]  # O_ASYNC
    assert [of("fcntl", 0, it) for it in (1, 2, 3, 1030)] == ["allowed"] * 4
    limits_ = [of("prlimit64", 0, 9, it, 0) for it in (0, 1, 1 << 32, 0x7FFF00000000)]
    assert limits_ == ["allowed", "errno 1", "errno 1", "errno 1"]
    assert verdict(program, machine.audit, 463) == "errno 1"  # setxattrat
    assert verdict(program, machine.audit, 500) == "errno 38"  # of a kernel to come
    assert [of(it) for it in ("clone3", "openat2")] == ["errno 38", "errno 38"]
    assert of("clone", 0x10000) == "allowed"  # a thread
    assert of("clone", 0x11) == "errno 1"  # a process
    assert of("openat", 0, 0, os.O_RDONLY | os.O_CLOEXEC) == "allowed"
    assert {of("openat", 0, 0, it) for it in (os.O_WRONLY, os.O_RDWR, os.O_CREAT, os.O_TRUNC)} == {"errno 13"}
    assert [of("tgkill", it, 1, 6) for it in (PID, PID + 1)] == ["allowed", "errno 1"]
    assert verdict(program, 0x40000028, calls["read"]) == "killed"  # calls of 32-bit Arm


def test_both_architectures_refuse_the_same_calls():
    def refused(name: str) -> set[str]:
        names = {number: call for call, number in numbers(name).items()}
        return {names[it] for it in sandbox._MACHINES[name].refused}

    without_a_folder = "chmod chown creat fork lchown link mkdir mknod rename rmdir symlink unlink vfork"
    without_a_folder += " futimesat utime utimes ioperm iopl"  # and ports, which Arm does not have
    assert refused("x86_64") - refused("aarch64") == set(without_a_folder.split())
    assert refused("aarch64") <= refused("x86_64")
