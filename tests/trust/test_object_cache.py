"""Machine code from the cache is run only if this user put it there."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("llvmlite")
from clmap_lsp.emulator.native import machine

pytestmark = pytest.mark.skipif(os.name != "posix", reason="owners and modes")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
        folder = tmp_path / name
        folder.mkdir(mode=0o700)
        monkeypatch.setenv(name, str(folder))
    monkeypatch.setenv("HOME", str(tmp_path))
    machine._cache_folder.cache_clear()
    machine._secret.cache_clear()
    yield tmp_path
    machine._cache_folder.cache_clear()
    machine._secret.cache_clear()


def folder_of(home: Path) -> Path:
    (found,) = home.rglob("object-code")
    return found


def test_what_was_kept_is_found(home: Path):
    machine._keep("k", b"code")
    assert machine._cached("k") == b"code"
    (secret,) = home.rglob("object-code.key")
    assert secret.stat().st_mode & 0o077 == 0
    assert len(secret.read_bytes()) == 32
    assert not secret.is_relative_to(folder_of(home).parent)


@pytest.mark.parametrize("change", ["code", "own digest", "other entry", "short", "empty", "link"])
def test_what_somebody_else_wrote_is_not(home: Path, change: str):
    machine._keep("k", b"code")
    machine._keep("other", b"other code")
    path = folder_of(home) / "k"
    data = path.read_bytes()
    match change:
        case "code":
            path.write_bytes(data[:32] + b"evil")
        case "own digest":
            path.write_bytes(hashlib.sha256(b"evil").digest() + b"evil")
        case "other entry":
            path.write_bytes((folder_of(home) / "other").read_bytes())
        case "short":
            path.write_bytes(data[:20])
        case "empty":
            path.write_bytes(b"")
        case _:
            path.unlink()
            path.symlink_to("other")
    assert machine._cached("k") is None


def test_another_users_secret_opens_nothing(home: Path):
    machine._keep("k", b"code")
    (secret,) = home.rglob("object-code.key")
    secret.write_bytes(bytes(32))
    machine._secret.cache_clear()
    assert machine._cached("k") is None


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o722])
def test_a_folder_that_others_can_write_is_not_used(home: Path, mode: int):
    machine._keep("k", b"code")
    folder_of(home).chmod(mode)
    machine._cache_folder.cache_clear()
    assert machine._cached("k") is None


def test_nor_one_behind_such_a_folder_or_a_link(home: Path):
    machine._keep("k", b"code")
    folder_of(home).parent.chmod(0o777)
    machine._cache_folder.cache_clear()
    assert machine._cached("k") is None
    folder_of(home).parent.chmod(0o700)
    real = folder_of(home).rename(home / "elsewhere")
    (home / "XDG_CACHE_HOME" / "clmap-lsp" / "object-code").symlink_to(real)
    machine._cache_folder.cache_clear()
    assert machine._cached("k") is None


@pytest.mark.parametrize("fault", ["readable by nobody", "no folder", "too short", "a folder"])
def test_without_a_secret_nothing_is_kept(home: Path, fault: str):
    config = home / "XDG_CONFIG_HOME" / "clmap-lsp"
    if fault == "no folder":
        config.write_text("")
    else:
        config.mkdir()
        key = config / "object-code.key"
        if fault == "a folder":
            key.mkdir()
        else:
            key.write_bytes(b"x" if fault == "too short" else b"")
    machine._keep("k", b"code")
    assert machine._cached("k") is None
