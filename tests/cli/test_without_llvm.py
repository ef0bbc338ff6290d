"""Without llvmlite, an extra of 170 MB, all but running kernels works, and that says what to install."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MATMUL = str(ROOT / "fixtures" / "matmul" / "simple.cl")
_WITHOUT = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "llvmlite":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Missing())
import importlib.util as util
real = util.find_spec
util.find_spec = lambda name, package=None: None if name == "llvmlite" else real(name, package)
from clmap_lsp.cli import main
sys.exit(main(sys.argv[1:]))
"""


def _run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-c", _WITHOUT, *words], cwd=ROOT, capture_output=True, text=True, check=False
    )


def test_check_and_analyze_do_without() -> None:
    checked = _run("check", MATMUL, "--device", "nvidia-hopper", "--format", "json")
    assert checked.returncode == 1, checked.stderr
    assert {it["code"] for it in json.loads(checked.stdout)["findings"]} >= {"CM104"}
    assert _run("analyze", MATMUL, "--format", "json").returncode == 0


@pytest.mark.parametrize(
    "words",
    [
        ("emulate", MATMUL, "--kernel", "mm_simple", "--engine", "jit"),
        ("check", MATMUL, "--emulate"),
        ("fixes", MATMUL, "--kernel", "mm_simple"),
        ("optimise", MATMUL, "--kernel", "mm_simple"),
    ],
)
def test_running_a_kernel_names_the_cure(words: tuple[str, ...]) -> None:
    done = _run(*words)
    said = done.stdout + done.stderr
    assert "pip install 'clmap-lsp[emulate]'" in said
    assert "Traceback" not in said
    assert "internal error" not in said
    assert done.returncode == 2
    assert len(said.splitlines()) == 1, "not once for each kernel"
    assert "clmap.toml" not in said, "nothing is wrong there"


def test_fixes_are_not_offered_untested() -> None:
    done = _run("check", MATMUL, "--fix", "--unsafe-fixes", "--diff")
    assert "internal error" not in done.stderr
    assert "@@" not in done.stdout, "a rewrite that nothing has tested"
    assert "no kernel is rewritten" in done.stderr
    assert "pip install 'clmap-lsp[emulate]'" in done.stderr
