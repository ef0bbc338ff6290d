"""Chains of includes, links, pipes and files of the system: a check ends, and prints nothing of them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from forked import run

pytestmark = pytest.mark.skipif(os.name != "posix", reason="links, pipes and devices")
KERNEL = "__kernel void k(__global float *a) { a[get_global_id(0) * 32] = 1; }\n"
TARGETS = (
    *(
        "/proc/self/environ",
        "/proc/self/maps",
        "/proc/self/mem",
        "/proc/self/fd/0",
        "/proc/self/cwd/../netrc",
    ),
    *("/proc/self/root/etc/passwd", "/proc/kmsg", "/proc/1/environ", "/dev/stdin", "/dev/fd/0", "/dev/full"),
    *("/dev/null", "/dev/random", "/sys/kernel/notes", "//etc//passwd", "/etc/../etc/passwd", "~/.netrc"),
    *("sub/../../netrc", "loop/netrc", "up/netrc", "self.h", "ring1.h", "pipe", "behind/pipe", "hard"),
    *(
        "file:///etc/passwd",
        "\\\\server\\share",
        "C:/secret",
        "a\x01b",
        "%2e%2e/netrc",
        ".git/config",
        "x" * 5000,
    ),
)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "config").write_text("hunter2")
    (tmp_path / "netrc").write_text("machine x password hunter2\n")
    (folder / "sub").mkdir()
    (folder / "loop").symlink_to("loop")
    (folder / "up").symlink_to("..")
    (folder / "self.h").symlink_to("self.h")
    (folder / "ring1.h").symlink_to("ring2.h")
    (folder / "ring2.h").symlink_to("ring1.h")
    (folder / "behind").symlink_to("sub")
    os.mkfifo(folder / "pipe")
    os.mkfifo(folder / "sub" / "pipe")
    (folder / "hard").symlink_to(tmp_path / "netrc")
    return folder


@pytest.mark.parametrize("style", ["concise", "sarif"])
def test_includes_of_what_is_no_header_end(repository: Path, style: str):
    for number, target in enumerate(TARGETS):
        text = f'#include "{target}"\n#if __has_include("{target}")\n#endif\n{KERNEL}'
        (repository / f"k{number}.cl").write_text(text)
    done = run(repository, "check", "--hints", "--no-emulate", "--format", style, ".", limit_s=300)
    assert done.returncode in (0, 1)
    for secret in ("hunter2", "root:x:", "PATH="):
        assert secret not in done.stdout + done.stderr
    if style == "concise":
        missed = [n for n, _ in enumerate(TARGETS) if f"k{n}.cl:1:" not in done.stdout]
        assert missed == [], "each is said at its line"


CHAINS = {
    "a hundred deep": lambda i: f'#include "h{i + 1}.h"\n',
    "each twice": lambda i: f'#include "h{i + 1}.h"\n' * 2,
    "by a macro": lambda i: f'#define NEXT "h{i + 1}.h"\n#include NEXT\n#undef NEXT\n',
    "to the first": lambda i: f'#include "h0.h"\n#include "h{i + 1}.h"\n',
    "by the counter": lambda i: f'#if __COUNTER__ < 99999\n#include "h{i}.h"\n#endif\n',
    "by the level": lambda i: f"#if __INCLUDE_LEVEL__ >= 0\n#include __FILE__\n#endif\nint x{i};\n",
}


@pytest.mark.parametrize("name", CHAINS)
def test_chains_of_includes_end(repository: Path, name: str):
    for number in range(100):
        (repository / f"h{number}.h").write_text(CHAINS[name](number))
    (repository / "k.cl").write_text(f'#include "h0.h"\n{KERNEL}')
    done = run(repository, "check", "--hints", "--no-emulate", "--format", "concise", "k.cl", limit_s=300)
    assert done.returncode in (0, 1)
    assert "k.cl:1:" in done.stdout or ".h:" in done.stdout, "it is said that something was not read"
