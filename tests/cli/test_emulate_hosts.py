"""`emulate` follows host code only where it has a say in the launch or in the build."""

from __future__ import annotations

from pathlib import Path

import pytest

from clmap_lsp.cli import main
from clmap_lsp.workbench.hosts import HostFiles

KERNEL = "__kernel void k(__global int *a, int n) { a[get_global_id(0) * n] = STEP; }\n"
HOST = """\
int main() {
  cl_program p = clCreateProgramWithSource(ctx, 1, &source, NULL, NULL);
  clBuildProgram(p, 1, &device, "-DSTEP=5", NULL, NULL);
  cl_kernel k = clCreateKernel(p, "k", NULL);
  int n = 9;
  clSetKernelArg(k, 1, sizeof n, &n);
  size_t whole = 1024, group = 32;
  clEnqueueNDRangeKernel(queue, k, 1, NULL, &whole, &group, 0, NULL, NULL);
}
"""


@pytest.fixture
def followed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Kernel files that host code was followed for."""
    paths: list[str] = []
    facts = HostFiles.facts

    def noted(self: HostFiles, path: str, *rest: object) -> object:
        paths.append(path)
        return facts(self, path, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(HostFiles, "facts", noted)
    return paths


def _emulate(tmp_path: Path, kernel: str, *options: str) -> None:
    (tmp_path / "main.c").write_text(HOST)
    (tmp_path / "k.cl").write_text(kernel)
    assert main(["emulate", str(tmp_path / "k.cl"), "--no-sandbox", *options]) == 0


def test_complete_launch_needs_no_host(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], followed: list[str]
) -> None:
    kernel = KERNEL.replace("STEP", "2")
    _emulate(tmp_path, "// clmap: global=256 local=16 n=3\n" + kernel)
    assert "256 in groups of 16, n=3" in capsys.readouterr().out
    _emulate(tmp_path, kernel, "--global", "128", "--local", "8", "--arg", "n=1")
    assert "128 in groups of 8, n=1" in capsys.readouterr().out
    assert followed == []


@pytest.mark.parametrize(
    "kernel",
    [
        "// clmap: global=256 local=16\n" + KERNEL.replace("STEP", "2"),
        "// clmap: global=256 local=16 n=3\n" + KERNEL,
        "// clmap: global=256 local=16 n=3\n#ifndef STEP\n#define STEP 1\n#endif\n" + KERNEL,
    ],
)
def test_host_is_followed_for_what_is_open(tmp_path: Path, followed: list[str], kernel: str) -> None:
    _emulate(tmp_path, kernel)
    assert followed
