"""Every file is read in one way: regular, bounded, and only from where it may come."""

from __future__ import annotations

import ast
import json
import os
import socket
import subprocess
import threading
from pathlib import Path

import pytest
from forked import run

import clmap_lsp
from clmap_lsp.reading import ReadScope, RefusedReadError, safe_read, walk
from clmap_lsp.sources import read_source
from clmap_lsp.workspace import scope_of, workspace_of

PACKAGE = Path(clmap_lsp.__file__).parent
posix = pytest.mark.skipif(os.name != "posix", reason="links, pipes and devices of POSIX")
KERNEL = "__kernel void k(__global int *a) { a[get_global_id(0)] = 1; }\n"
SECRET = "machine example.org login me password hunter2secret\n"

OPENERS = {
    "open",
    "read_text",
    "read_bytes",
    "fromfile",
    "memmap",
    "loadtxt",
    "genfromtxt",
    "fdopen",
    "fwalk",
}
WALKERS = {"os.walk", "os.scandir", "os.listdir", "np.load", "numpy.load"}
ALLOWED = {
    "reading.py": {"open", "os.scandir"},
    "server/stdio.py": {"open", "fdopen"},  # Pipes to the client, /dev/null.
    "worker/child.py": {"open", "fdopen"},  # Pipes to the parent, /dev/null.
    "cli.py": {"open", "fdopen"},  # /dev/null, for streams that are closed or that nobody reads any more.
    "emulator/native/machine.py": {"fdopen"},  # Writes.
    "sandbox/limits.py": {"open"},  # One line of /proc/self.
    "sandbox/usage.py": {"open"},  # The same.
    "worker/forked.py": {"open", "fdopen"},  # Pipes to the parent, /dev/null.
    "emulator/memory_limit.py": {"read_text"},  # The same.
    "sandbox/confined.py": {"os.listdir"},  # The names of its own threads.
    "sandbox/landlock.py": {"open"},  # By path only: nothing can be read from it.
    "worker/cache.py": {"fdopen"},  # Writes.
    "opencl_device/recording.py": {"open"},  # Writes.
    "opencl_device/on_device.py": {"open", "np.load"},  # Writes; an archive that `safe_read` read.
    "server/protocol.py": {"open"},  # Of a document in the editor.
    "whole_files.py": {"open", "fdopen"},  # Writes.
    "source/normalise.py": {"open"},  # Of a brace.
    "source/scan.py": {"open"},  # Of a bracket.
    "emulator/turns.py": {"open"},  # Of counters.
}


def calls_in(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            called = node.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            whole = ast.unparse(called)
            names |= {name} & OPENERS | {whole} & WALKERS
    return names


def test_nothing_else_in_the_package_opens_files_for_reading():
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if extra := calls_in(path) - ALLOWED.get(name, set()):
            found[name] = extra
    assert found == {}, "read files by clmap_lsp.reading.safe_read"


def test_a_regular_file_is_read(tmp_path: Path):
    (tmp_path / "a").write_bytes(b"abc")
    assert safe_read(tmp_path / "a", limit=3, within=None) == b"abc"
    assert safe_read(tmp_path / "a", limit=3, within=ReadScope.below(tmp_path)) == b"abc"


def refusal(path: Path | str, within: ReadScope | None = None, limit: int = 100) -> str:
    with pytest.raises(RefusedReadError) as caught:
        safe_read(path, limit=limit, within=within)
    return caught.value.strerror


def test_a_large_file_is_refused_unread(tmp_path: Path):
    with (tmp_path / "large").open("wb") as file:
        file.truncate(1 << 40)
    assert "larger than 100 bytes" in refusal(tmp_path / "large")


def test_a_path_with_a_zero_byte_is_no_file():
    assert refusal("a\0b") == "no such file"


@posix
@pytest.mark.parametrize("kind", ["pipe", "socket", "folder", "zero", "tty", "link to a pipe"])
def test_what_is_no_regular_file_is_refused_without_waiting(tmp_path: Path, kind: str):
    path = tmp_path / "x"
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "socket":
            held = socket.socket(socket.AF_UNIX)
            os.chdir(tmp_path)
            held.bind("x")
        case "folder":
            path.mkdir()
        case "zero":
            path.symlink_to("/dev/zero")
        case "tty":
            path.symlink_to("/dev/tty")
        case _:
            os.mkfifo(tmp_path / "pipe")
            path.symlink_to("pipe")
    assert "not a regular file" in refusal(path)
    assert refusal(path, ReadScope.below(tmp_path))


@posix
def test_endless_files_of_the_system_are_bounded():
    assert len(safe_read("/proc/self/maps", limit=1 << 20, within=None)) > 0
    with pytest.raises(OSError):
        safe_read("/proc/self/maps", limit=10, within=None)


@posix
@pytest.mark.parametrize(
    "path",
    ["../secret", "link", "deep/link/secret", "/etc/passwd", ".git/config", "sub/.GIT/config", "chain"],
)
def test_nothing_outside_is_read(tmp_path: Path, path: str):
    inside = tmp_path / "repository"
    (inside / "deep").mkdir(parents=True)
    (inside / ".git").mkdir()
    (inside / ".git" / "config").write_text("token")
    (inside / "sub" / ".GIT").mkdir(parents=True)
    (inside / "sub" / ".GIT" / "config").write_text("token")
    (tmp_path / "secret").write_text("secret")
    (inside / "link").symlink_to(tmp_path / "secret")
    (inside / "deep" / "link").symlink_to(tmp_path)
    (inside / "chain").symlink_to("link")
    with pytest.raises(RefusedReadError) as caught:
        safe_read(inside / path, limit=100, within=ReadScope.below(inside))
    assert caught.value.is_outside


@posix
def test_links_inside_are_followed(tmp_path: Path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x.h").write_text("x")
    (tmp_path / "b").symlink_to("a")
    assert safe_read(tmp_path / "b" / "x.h", limit=9, within=ReadScope.below(tmp_path)) == b"x"


@posix
def test_a_workspace_may_lie_behind_a_link(tmp_path: Path):
    (tmp_path / "real" / "kernels").mkdir(parents=True)
    (tmp_path / "real" / ".git").mkdir()
    (tmp_path / "real" / "n.h").write_text("#define N 1\n")
    (tmp_path / "spelt").symlink_to("real")
    scope = scope_of(str(tmp_path / "spelt" / "kernels" / "k.cl"))
    assert safe_read(tmp_path / "spelt" / "n.h", limit=99, within=scope)
    assert not scope.holds(str(tmp_path / "other.h"))


def test_a_home_folder_is_no_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / ".git").mkdir()
    (tmp_path / "downloads").mkdir()
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.chdir(tmp_path)
    assert workspace_of(str(tmp_path / "downloads" / "k.cl")) == (tmp_path / "downloads").resolve()


@posix
def test_a_file_that_is_written_meanwhile_is_read_whole_or_said_to_change(tmp_path: Path):
    path = tmp_path / "busy"
    path.write_bytes(b"a" * 100_000)
    stop = threading.Event()

    def write() -> None:
        letter = 0
        while not stop.is_set():
            letter = (letter + 1) % 26
            with path.open("r+b") as file:
                file.write(bytes([97 + letter]) * 100_000)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(50):
            try:
                assert len(safe_read(path, limit=200_000, within=None)) == 100_000
            except RefusedReadError as error:
                assert error.strerror == "changes while it is read"
    finally:
        stop.set()
        writer.join()


@posix
def test_a_walk_leaves_out_what_it_may_not_read(tmp_path: Path):
    top = tmp_path / "top"
    (top / "sub").mkdir(parents=True)
    (tmp_path / "outside.cl").write_text(KERNEL)
    (top / "sub" / "good.cl").write_text(KERNEL)
    (top / "inner.cl").symlink_to("sub/good.cl")
    (top / "outer.cl").symlink_to(tmp_path / "outside.cl")
    (top / "zero.cl").symlink_to("/dev/zero")
    (top / "gone.cl").symlink_to("nowhere")
    (top / "loop.cl").symlink_to("loop.cl")
    (top / "up").symlink_to(tmp_path)
    (top / "folder.cl").mkdir()
    os.mkfifo(top / "pipe.cl")
    found = {Path(it.path).name: it.refused for it in walk(str(top), [".cl"], ReadScope.below(top))}
    assert {name for name, why in found.items() if not why} == {"good.cl", "inner.cl"}
    assert set(found) == {
        "good.cl", "inner.cl", "outer.cl", "zero.cl", "gone.cl", "loop.cl", "pipe.cl",
    }  # fmt: skip


@posix
def test_a_walk_goes_a_thousand_folders_deep(tmp_path: Path):
    here = os.open(tmp_path, os.O_RDONLY)
    try:
        for _ in range(1200):
            os.mkdir("d", dir_fd=here)
            below = os.open("d", os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = below
        os.close(os.open("k.cl", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    finally:
        os.close(here)
    try:
        assert len(list(walk(str(tmp_path), [".cl"], ReadScope.below(tmp_path)))) == 1
    finally:
        subprocess.run(["rm", "-rf", str(tmp_path / "d")], check=True)


# ------------------------------------------------------------------------------------- from outside


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    (folder / ".git").mkdir(parents=True)
    (folder / "good.cl").write_text(KERNEL)
    (tmp_path / "netrc").write_text(SECRET)
    return folder


def traps(folder: Path) -> None:
    os.mkfifo(folder / "pipe.cl")
    os.mkfifo(folder / "pipe")
    (folder / "zero.cl").symlink_to("/dev/zero")
    (folder / "random.cl").symlink_to("/dev/urandom")
    (folder / "secret.cl").symlink_to(folder.parent / "netrc")


@posix
def test_check_of_a_folder_of_traps_ends(repository: Path):
    traps(repository)
    done = run(repository, "check", ".")
    assert done.returncode in (0, 1)
    assert "hunter2" not in done.stdout + done.stderr
    for name in ("pipe.cl", "zero.cl", "random.cl", "secret.cl"):
        assert f"{name}: left out" in done.stderr


@posix
@pytest.mark.parametrize("name", ["pipe.cl", "zero.cl", "random.cl", "secret.cl"])
def test_a_trap_that_is_named_is_refused(repository: Path, name: str):
    traps(repository)
    done = run(repository, "check", name)
    assert done.returncode == 2
    assert f"{name}: " in done.stderr
    assert "hunter2" not in done.stdout + done.stderr


@posix
@pytest.mark.parametrize("target", ["/dev/zero", "/dev/urandom", "pipe", "/dev/tty", "/proc/self/environ"])
@pytest.mark.parametrize("command", ["check", "analyze"])
def test_an_include_of_a_trap_ends(repository: Path, target: str, command: str):
    traps(repository)
    (repository / "k.cl").write_text(f'#include "{target}"\n{KERNEL}')
    assert run(repository, command, "k.cl").returncode in (0, 1)


@posix
@pytest.mark.parametrize("style", ["full", "concise", "json", "github", "sarif"])
@pytest.mark.parametrize("way", ["absolute", "relative", "link", "has_include", "macro", "initializer"])
def test_nothing_of_a_file_outside_is_printed(repository: Path, style: str, way: str):
    secret = repository.parent / "netrc"
    include = {
        "absolute": f'#include "{secret}"\n',
        "relative": '#include "../netrc"\n',
        "link": '#include "link.h"\n',
        "has_include": f'#if __has_include("{secret}")\n#include "{secret}"\n#endif\n',
        "macro": f'#define F "{secret}"\n#include F\n',
        "initializer": f'__constant int a[] = {{\n#include "{secret}"\n}};\n',
    }[way]
    (repository / "link.h").symlink_to(secret)
    (repository / "k.cl").write_text(include + KERNEL)
    done = run(repository, "check", "--format", style, "k.cl")
    assert not any(word in done.stdout + done.stderr for word in ("hunter2", "example.org"))


@posix
def test_a_configuration_opens_no_folder_outside(repository: Path):
    (repository / "clmap.toml").write_text(f'[build]\ninclude = ["{repository.parent}"]\n')
    (repository / "k.cl").write_text('#include "netrc"\n' + KERNEL)
    done = run(repository, "check", "k.cl")
    assert "CM009" in done.stdout
    assert "hunter2" not in done.stdout


def test_a_person_opens_a_folder_with_an_option(repository: Path):
    (repository.parent / "sdk").mkdir()
    (repository.parent / "sdk" / "n.h").write_text("#define N 1\n")
    (repository / "k.cl").write_text('#include "n.h"\n' + KERNEL.replace("= 1", "= N"))
    findings = json.loads(
        run(repository, "check", "k.cl", "-I", "../sdk", "--format", "json", "--hints").stdout
    )["findings"]
    assert not {it["code"] for it in findings} & {"CM002", "CM003", "CM009"}


@posix
@pytest.mark.parametrize("target", ["/dev/zero", "pipe", "secret.cl", "../netrc"])
@pytest.mark.parametrize("which", ["baseline", "config"])
def test_files_of_the_configuration_are_held_to_the_workspace(repository: Path, target: str, which: str):
    traps(repository)
    if which == "baseline":
        (repository / "clmap.toml").write_text(f'baseline = "{target}"\n')
    else:
        (repository / "clmap.toml").symlink_to(target)
    done = run(repository, "check", "good.cl")
    if which == "baseline" or not (repository / "clmap.toml").is_file():
        assert done.returncode in (0, 1, 2)
    else:
        assert done.returncode == 2
    assert "hunter2" not in done.stdout + done.stderr


@posix
@pytest.mark.parametrize("target", ["/dev/zero", "pipe", "secret.cl", "../netrc", "/etc/passwd"])
def test_a_recording_that_a_repository_names_lies_in_it(repository: Path, target: str):
    traps(repository)
    (repository / "clmap.toml").write_text(f'recorded = "{target}"\n')
    done = run(repository, "check", "good.cl")
    assert done.returncode == 2
    assert "hunter2" not in done.stdout + done.stderr
    assert "root:" not in done.stdout + done.stderr
    assert "make one with clmap-lsp record" in done.stderr


@posix
@pytest.mark.parametrize("target", ["/dev/zero", "pipe", "../netrc", "secret.cl"])
@pytest.mark.parametrize("command", [["check"], ["check", "--emulate"], ["analyze"], ["emulate"]])
def test_contents_of_a_trap_are_refused(repository: Path, target: str, command: list[str]):
    traps(repository)
    kernel = "__kernel void k(__global float *a, __global int *b) { a[b[get_global_id(0)] & 63] = 1; }\n"
    comment = f"// clmap: global=64 local=64 a=zeros(64) b=file:{target}\n"
    (repository / "k.cl").write_text(comment + kernel)
    done = run(repository, *command, "k.cl")
    assert "hunter2" not in done.stdout + done.stderr
    if command == ["emulate"]:
        assert done.returncode == 2
        assert "cannot read" in done.stderr


def test_contents_are_looked_up_beside_the_source(repository: Path):
    (repository / "sub").mkdir()
    (repository / "sub" / "b.bin").write_bytes(bytes(256))
    kernel = "__kernel void k(__global int *b) { b[get_global_id(0)] += 1; }\n"
    (repository / "sub" / "k.cl").write_text("// clmap: global=64 local=64 b=file:b.bin\n" + kernel)
    assert run(repository, "emulate", "sub/k.cl").returncode == 0


def test_a_person_names_contents_anywhere(repository: Path):
    (repository.parent / "b.bin").write_bytes(bytes(256))
    (repository / "k.cl").write_text("__kernel void k(__global int *b) { b[get_global_id(0)] += 1; }\n")
    done = run(repository, "emulate", "k.cl", "--global", "64", "--local", "64", "--arg", "b=file:../b.bin")
    assert done.returncode == 0, done.stderr


@posix
def test_a_sim_file_that_leads_out_is_not_read(repository: Path):
    (repository / "good.sim").symlink_to(repository.parent / "netrc")
    done = run(repository, "check", "good.cl")
    assert done.returncode == 1
    assert "CM007" in done.stdout and "good.sim" in done.stdout
    assert "hunter2" not in done.stdout + done.stderr


def test_a_source_that_is_not_utf_8_is_read(repository: Path):
    (repository / "old.cl").write_bytes(b"// fa\xe7ade\n" + KERNEL.encode())
    assert run(repository, "check", "old.cl").returncode in (0, 1)
    assert read_source(str(repository / "old.cl")).splitlines()[0] == "// façade"


def test_a_fix_keeps_the_encoding(repository: Path):
    from clmap_lsp.commands.fixing import _write

    path = repository / "old.cl"
    path.write_bytes(b"// fa\xe7ade\n" + KERNEL.encode())
    _write(str(path), read_source(str(path)).replace("= 1", "= 2"))
    assert path.read_bytes() == b"// fa\xe7ade\n" + KERNEL.replace("= 1", "= 2").encode()


@posix
@pytest.mark.parametrize("target", ["pipe", "/dev/zero"])
@pytest.mark.parametrize("name", ["x.json", "x.csv", "x.sqlite"])
def test_an_import_of_a_trap_ends(repository: Path, target: str, name: str):
    traps(repository)
    (repository / name).symlink_to(target)
    done = run(repository, "db", "import", name, environment={"HOME": str(repository)})
    assert done.returncode == 2
    assert "not a regular file" in done.stderr


def test_more_text_than_is_read_is_refused_at_once(repository: Path):
    with (repository / "large.cl").open("wb") as file:
        file.truncate(1 << 30)
    done = run(repository, "check", "large.cl")
    assert done.returncode == 2
    assert "large.cl: larger than 32 MiB" in done.stderr


def test_what_macos_keeps_beside_a_file_is_no_kernel_file(tmp_path: Path) -> None:
    (tmp_path / "k.cl").write_text("__kernel void k(__global int *a) { a[0] = 1; }\n", encoding="utf-8")
    (tmp_path / "._k.cl").write_bytes(b"\0\5\x16\7\0\2\0\0Mac OS X")
    found = [Path(it.path).name for it in walk(str(tmp_path), (".cl",), scope_of(str(tmp_path / "any")))]
    assert found == ["k.cl"]
