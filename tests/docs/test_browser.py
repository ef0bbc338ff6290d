"""What the page "Try it in the browser" asks of the package, in CPython; editors/tests uses Chromium."""

from __future__ import annotations

import hashlib
import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
KERNEL = """\
// clmap: global=256,256 local=32,8 N=256 A=random(N*N)
__kernel void f(__global float *A, const int N)
{
    __local float tile[32][32];
    tile[get_local_id(0)][get_local_id(1)] = A[get_global_id(0) * N + get_global_id(1)];
}
"""


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    monkeypatch.chdir(tmp_path)
    module = script("session")
    monkeypatch.setattr(module, "FOLDER", tmp_path / "kernels")
    return module


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"browser_{name}", ROOT / "browser" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def look(session: ModuleType, options: str = "", source: str = KERNEL) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(session.look(source, "nvidia-hopper", options))
    return answer


def test_findings_accesses_and_pictures_are_of_one_launch(session: ModuleType) -> None:
    answer = look(session, "--local 16,16")
    assert answer["problem"] == ""
    (kernel,) = json.loads(answer["analysis"])["files"][0]["kernels"]
    assert kernel["launch"]["local"] == [16, 16]
    findings = json.loads(answer["check"])["findings"]
    assert {it["kernel"] for it in findings} == {"f"}
    assert all(it["code"] in answer["said"] for it in findings)
    sectors, banks = sorted(answer["pictures"]["f"], key=lambda it: it["banks"] is not None)
    assert sectors["caption"].startswith("32 work-items touch 16 sectors")
    assert sectors["lanes"][:3] == [0, 1024, 2048]
    assert (sectors["granule"], sectors["elementBytes"], banks["banks"]) == (32, 4, 32)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ("--global x", "clmap-lsp: --global: `x` is not a size"),
        ("--arg 'N=1", "options: no closing quotation"),
        ("--nonsense", "clmap-lsp: unknown option --nonsense"),
        ("--kernel g", 'clmap-lsp: no kernel "g"'),
        ("--help", "options: --help cannot be used here"),
        ("--version", "clmap-lsp: unknown option --version behind a command"),
    ],
)
def test_what_cannot_be_used_is_said_in_a_line(session: ModuleType, options: str, problem: str) -> None:
    answer = look(session, options)
    assert answer["problem"].startswith(problem)
    assert "pictures" not in answer or not answer["pictures"]


def test_source_that_is_no_kernel_has_findings_and_no_picture(session: ModuleType) -> None:
    answer = look(session, source="__kernel void f(__global float *a { a[0] = 1 }")
    assert [it["code"] for it in json.loads(answer["check"])["findings"]] == ["CM001"]
    assert answer["pictures"] in ({}, {"f": []})


def test_half_a_character_is_read_as_an_unknown_one(session: ModuleType) -> None:
    answer = look(session, source=f"// \ud800\n{KERNEL}")
    assert answer["problem"] == ""


def test_the_bundle_takes_the_versions_of_the_lock_file() -> None:
    bundle = script("bundle")
    lock = (ROOT / "requirements-dev.lock").read_text(encoding="utf-8")
    for package in ("tree-sitter", "tree-sitter-c", "platformdirs"):
        assert f"\n{bundle.pinned(package)} " in f"\n{lock}"
    for example in bundle.EXAMPLES:
        assert (ROOT / "fixtures" / f"{example}.cl").is_file()


def test_numpy_is_what_the_lock_file_says_wherever_it_comes_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = script("bundle")
    before, target = tmp_path / "before", tmp_path / "target"
    before.mkdir()
    target.mkdir()
    package = {"file_name": "numpy.whl", "sha256": hashlib.sha256(b"the wheel").hexdigest()}
    monkeypatch.setattr(bundle, "_from_server", lambda *_: b"somebody else's")
    monkeypatch.setattr(bundle, "_from_pypi", lambda *_: b"the wheel")
    (before / "numpy.whl").write_bytes(b"half of the")
    assert bundle.numpy(tmp_path, target, before, package) == "numpy.whl"
    assert (target / "numpy.whl").read_bytes() == b"the wheel"
    monkeypatch.setattr(bundle, "_from_pypi", lambda *_: None)
    assert bundle.numpy(tmp_path, tmp_path, target, package) == "numpy.whl"
    with pytest.raises(SystemExit, match="checksum"):
        bundle.numpy(tmp_path, target, before, package)
