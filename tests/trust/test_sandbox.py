"""What a confined process may still do, tried from inside, in a forked child."""

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
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from clmap_lsp.sandbox import confined, filters, landlock, limits
from clmap_lsp.sandbox.calls import CHECKED, DRIVERS, FREE, HIDDEN, MACHINES, NO_TERMINALS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="fork, procfs")


def held(allowed: limits.Limits) -> tuple[str, ...]:
    return confined.confine((), allowed)


def restricted(
    action: Callable[[], object], confine: Callable[[limits.Limits], tuple[str, ...]] = held
) -> str:
    """Do something in a forked, restricted child; returns the name of what it raised, or `done`."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        try:
            missing = confine(limits.Limits(memory_mb=256))
            answer = f"not here: {missing}" if missing else "done"
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
    if answer.startswith("not here"):
        pytest.skip(f"this kernel or container does not let processes be confined; {answer}")
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


NEVER = [
    "io_uring_setup",
    "io_uring_enter",
    "userfaultfd",
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "kcmp",
    "kill",
    "tkill",
    "rt_sigqueueinfo",
    "pidfd_open",
    "pidfd_getfd",
    "pidfd_send_signal",
    "perf_event_open",
    "bpf",
    "keyctl",
    "add_key",
    "request_key",
    "memfd_create",
    "memfd_secret",
    "execve",
    "execveat",
    "unshare",
    "setns",
    "mount",
    "umount2",
    "move_mount",
    "mount_setattr",
    "open_by_handle_at",
    "name_to_handle_at",
    "personality",
    "seccomp",
    "prctl",
    "landlock_create_ruleset",
    "shmat",
    "shmctl",
    "mq_open",
    "inotify_init1",
    "epoll_create1",
    "timerfd_create",
    "signalfd4",
    "timer_create",
    "setitimer",
    "ioprio_set",
    "sched_setattr",
    "sched_setscheduler",
    "setpgid",
    "setsid",
    "vhangup",
    "reboot",
    "kexec_load",
    "init_module",
    "finit_module",
    "delete_module",
    "quotactl",
    "mlockall",
    "mlock",
    "mbind",
    "migrate_pages",
    "move_pages",
    "vmsplice",
    "splice",
    "tee",
    "sendmsg",
    "recvmsg",
    "connect",
    "bind",
    "listen",
    "socketpair",
    "process_madvise",
    "process_mrelease",
    "setrlimit",
    "acct",
    "swapon",
    "sethostname",
    "setdomainname",
    "settimeofday",
    "clock_settime",
    "clock_adjtime",
    "adjtimex",
    "chroot",
    "pivot_root",
    "capset",
    "setreuid",
    "setresgid",
    "setgroups",
    "setfsuid",
    "fallocate",
    "truncate",
    "ftruncate",
    "pwrite64",
    "pwritev",
    "sendfile",
    "copy_file_range",
    "utimensat",
    "mknodat",
    "linkat",
    "symlinkat",
    "renameat2",
    "fchmodat",
    "fchownat",
    "sync",
    "syncfs",
    "fsync",
    "flock",
    "dup3",
    "pipe2",
    "eventfd2",
    "chdir",
]
"""Calls by which a process gets at others, at more rights, at memory or files, or out of its limits."""


@pytest.mark.parametrize("name", NEVER)
def test_no_way_out_by_a_call(name: str):
    if name not in numbers(os.uname().machine):
        pytest.skip("these headers do not have it")
    parent = os.getpid()
    assert restricted(lambda: call(name, parent, 0, 0, 0)) in ("PermissionError", "OSError: ENOSYS")


@pytest.mark.parametrize(
    "name",
    [
        "mem",
        "environ",
        "maps",
        "net/tcp",
        "net/unix",
        "root/etc/passwd",
        "mountinfo",
        "cmdline",
    ],
)
def test_what_the_system_knows_of_a_process_is_not_read(name: str):
    def read() -> None:
        os.read(os.open(f"/proc/self/task/{os.getpid()}/{name}", os.O_RDONLY), 1)

    assert restricted(read) == "PermissionError"


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
    assert "no network" in confined.description() or "no limit on network" in confined.description()


def test_elsewhere_every_restriction_is_named_as_missing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(confined, "this_machine", lambda: None)
    monkeypatch.setattr(landlock, "version", lambda: 0)
    monkeypatch.setattr(limits, "apply", lambda _: ())
    missing = confined.confine()
    assert missing == (confined.READING, *confined.NEEDED)
    assert not confined.allows_kernels(missing)
    assert confined.allows_kernels((confined.READING,))


def test_a_filter_with_numbers_of_another_architecture_is_not_installed():
    other = next(it for name, it in MACHINES.items() if name != os.uname().machine)
    assert not filters.install(filters.program(other, os.getpid()), other)
    with socket.socket():  # In this very process: nothing was installed.
        pass


# -------------------------------------------------------------------------------------- what can be read


@pytest.mark.parametrize(
    "path",
    ["/etc/passwd", "/proc/self/environ", "/proc/1/cmdline", "/root", "/tmp", ".", "/var/log", "/dev/tty"],
)
def test_other_files_are_not_read(path: str):
    if not landlock.version():
        pytest.skip("this kernel has no Landlock")

    def read() -> None:
        if Path(path).is_dir():
            list(Path(path).iterdir())
        else:
            Path(path).read_bytes()

    assert restricted(read) == "PermissionError"


@pytest.mark.parametrize("is_current", [False, True])
@pytest.mark.parametrize(("is_installed", "outcome"), [(True, "done"), (False, "PermissionError")])
def test_packages_beside_the_installed_one_are_read_and_a_checkout_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_installed: bool, outcome: str, is_current: bool
):
    """As after `pip install --target FOLDER`, or with modules of an environment in PYTHONPATH."""
    if not landlock.version():
        pytest.skip("this kernel has no Landlock")
    folder, elsewhere = tmp_path / "site", tmp_path / "elsewhere"
    (folder / "clmap_lsp" / "sandbox").mkdir(parents=True)
    elsewhere.mkdir()
    for it in (folder, elsewhere):
        (it / "beside.py").write_text("x = 1\n")
    if is_installed:
        (folder / "clmap_lsp-0.1.0.dist-info").mkdir()
    monkeypatch.setattr(confined, "__file__", str(folder / "clmap_lsp" / "sandbox" / "confined.py"))
    monkeypatch.setattr(sys, "path", [*sys.path, str(folder), str(elsewhere)])
    monkeypatch.chdir(folder if is_current else elsewhere)
    assert restricted((folder / "beside.py").read_text) == outcome
    if not is_current:  # The current folder is somebody's work.
        assert restricted((elsewhere / "beside.py").read_text) == "PermissionError"


def test_what_is_named_is_read_and_what_lies_beside_it_is_not(tmp_path: Path):
    if not landlock.version():
        pytest.skip("this kernel has no Landlock")
    (tmp_path / "in").mkdir()
    for name in ("in/a", "out", "file"):
        (tmp_path / name).write_text("x")

    def opened(allowed: limits.Limits) -> tuple[str, ...]:
        return confined.confine([str(tmp_path / "in"), str(tmp_path / "file"), "/does/not/exist"], allowed)

    assert restricted((tmp_path / "in" / "a").read_text, opened) == "done"
    assert restricted((tmp_path / "file").read_text, opened) == "done"
    assert restricted((tmp_path / "out").read_text, opened) == "PermissionError"


def test_threads_that_could_still_read_are_named():
    if not landlock.version():
        pytest.skip("this kernel has no Landlock")
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        threading.Thread(target=threading.Event().wait, daemon=True).start()
        os.write(writing, " ".join(confined.confine()).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        assert confined.READING in pipe.read().decode()
    os.waitpid(pid, 0)


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


def verdicts(machine_name: str, names: Iterable[str], *, for_driver: bool = False) -> dict[str, str]:
    machine, calls = MACHINES[machine_name], numbers(machine_name)
    program = filters.program(machine, PID, for_driver=for_driver)
    return {it: verdict(program, machine.audit, calls[it]) for it in names}


@pytest.mark.parametrize("name", sorted(HEADERS))
@pytest.mark.parametrize("for_driver", [False, True])
def test_what_is_not_listed_is_refused(name: str, for_driver: bool):
    """Every call of the kernel's header: those of the lists and no others."""
    free = set(FREE) | (set(DRIVERS) | set(NO_TERMINALS) if for_driver else set())
    special = set(CHECKED) | set(HIDDEN) | set(NO_TERMINALS)
    others = (
        set(numbers(name)) - free - special - {"fstatat", "fstatat64", "arch_specific_syscall", "syscalls"}
    )
    found = verdicts(name, others, for_driver=for_driver)
    assert set(found.values()) <= {"errno 1", "errno 38"}, found
    assert len(found) > 200
    listed = [it for it in free if it in MACHINES[name].numbers({**FREE, **DRIVERS, **NO_TERMINALS})]
    known = [it for it in listed if it in numbers(name)]
    assert set(verdicts(name, known, for_driver=for_driver).values()) == {"allowed"}


REFUSED = """
socket socketpair connect bind listen accept4 sendto sendmsg sendmmsg recvfrom recvmsg
execve execveat ptrace kill tkill rt_sigqueueinfo rt_tgsigqueueinfo process_vm_readv process_vm_writev
pidfd_open pidfd_getfd pidfd_send_signal process_madvise kcmp
unlinkat mkdirat mknodat symlinkat linkat renameat2 fchmodat fchmod fchownat fchown truncate ftruncate
fallocate utimensat setxattr lsetxattr fsetxattr removexattr sync fsync pwrite64 copy_file_range splice
mount umount2 pivot_root chroot unshare setns open_tree move_mount fsopen fsconfig fsmount fspick
bpf perf_event_open userfaultfd seccomp memfd_create memfd_secret io_uring_setup io_uring_enter
add_key request_key keyctl init_module finit_module delete_module kexec_load reboot swapon swapoff
settimeofday clock_settime adjtimex sethostname setdomainname acct quotactl syslog fanotify_init
inotify_init1 setuid setgid setresuid setgroups capset setpriority sched_setscheduler sched_setaffinity
sched_setattr ioprio_set shmget msgget semget mq_open setitimer timer_create personality lookup_dcookie
name_to_handle_at open_by_handle_at vmsplice tee signalfd4 eventfd2 epoll_create1 pipe2 dup3 flock
chdir fchdir umask setsid setpgid vhangup prctl landlock_create_ruleset landlock_restrict_self
"""


@pytest.mark.parametrize("name", sorted(HEADERS))
def test_every_class_of_danger_is_refused_by_name(name: str):
    known = numbers(name)
    found = verdicts(name, [it for it in REFUSED.split() if it in known])
    assert set(found.values()) == {"errno 1"}, found
    assert len(found) > 100


@pytest.mark.parametrize("name", sorted(HEADERS))
def test_calls_are_judged_by_their_arguments(name: str):
    machine, calls = MACHINES[name], numbers(name)
    program = filters.program(machine, PID)

    def of(call: str, *arguments: int) -> str:
        return verdict(program, machine.audit, calls[call], *arguments)

    for command in (8, 10, 15, 1024, 1026, 1031, 1033):  # F_SETOWN, F_SETSIG, F_SETLEASE, pipes, seals
        assert of("fcntl", 0, command, 1) == "errno 1"
    assert [of("fcntl", 0, 4, it) for it in (0o4000, 0o20000)] == ["allowed", "errno 1"]  # O_ASYNC
    assert [of("fcntl", 0, it) for it in (1, 2, 3, 1030)] == ["allowed"] * 4
    limits_ = [of("prlimit64", 0, 9, it, 0) for it in (0, 1, 1 << 32, 0x7FFF00000000)]
    assert limits_ == ["allowed", "errno 1", "errno 1", "errno 1"]
    data = [of("prlimit64", pid, 2, 1 << 40) for pid in (0, PID, PID + 1)]
    assert data == ["allowed", "errno 1", "errno 1"]  # its own, which the hard limit on memory bounds
    assert verdict(program, machine.audit, 463) == "errno 38"  # setxattrat, younger than the list
    assert verdict(program, machine.audit, 500) == "errno 38"  # of a kernel to come
    assert [of(it) for it in ("clone3", "openat2")] == ["errno 38", "errno 38"]
    assert of("ioctl", 0, 0x5412) == "errno 25"  # TIOCSTI: keys for the terminal
    assert of("clone", 0x3D0F00) == "allowed"  # a thread, as C libraries start them
    processes = (0x11, 0x10000 | 0x20000, 0x10000 | 0x40000000, 0x10000 | 0x10000000, 0x4111, 0)
    assert {of("clone", it) for it in processes} <= {"errno 1"}  # processes, name spaces
    assert of("openat", 0, 0, os.O_RDONLY | os.O_CLOEXEC) == "allowed"
    writing = (os.O_WRONLY, os.O_RDWR, os.O_CREAT, os.O_TRUNC, os.O_TMPFILE)
    assert {of("openat", 0, 0, it) for it in writing} == {"errno 13"}
    assert [of("tgkill", it, 1, 6) for it in (PID, PID + 1)] == ["allowed", "errno 1"]
    assert verdict(program, 0x40000028, calls["read"]) == "killed"  # calls of 32-bit Arm
    assert verdict(program, 0x40000003, 5) == "killed"  # int 0x80 on x86-64
    if name == "x86_64":
        assert verdict(program, machine.audit, 0x40000000 | calls["read"]) == "errno 1"  # x32


@pytest.mark.parametrize("name", sorted(HEADERS))
def test_the_numbers_are_those_of_the_headers(name: str):
    known = numbers(name)
    for calls in (FREE, CHECKED, HIDDEN, NO_TERMINALS, DRIVERS):
        for call, number in MACHINES[name].numbers(calls).items():
            spelt = "fstatat" if call == "newfstatat" and call not in known else call
            assert known.get(spelt, number) == number, call
            assert spelt in known or number > 400, f"{call}: not in the header, and not young"


def test_both_architectures_allow_the_same_calls():
    without_a_folder = {"stat", "lstat", "readlink", "access", "poll", "time", "open"}
    for calls in (FREE, CHECKED, HIDDEN, NO_TERMINALS):
        x86, arm = (set(MACHINES[it].numbers(calls)) for it in ("x86_64", "aarch64"))
        assert arm <= x86
        assert x86 - arm <= without_a_folder
