"""What a source includes from outside its workspace is not read, and reported with its path."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from lsprotocol.types import TextDocumentItem
from warm import clmap

from clmap_lsp.config import Settings
from clmap_lsp.server.documents import Documents
from clmap_lsp.server.engine import Engine

KERNEL = "__kernel void k(__global int *a) { a[get_global_id(0)] = N; }\n"


def outside(folder: Path, name: str = "k.cl") -> list[dict[str, Any]]:
    done = clmap("check", name, "--format", "json", "--hints", cwd=folder)
    assert "Traceback" not in done.stderr
    found = json.loads(done.stdout)["findings"]
    refused = [it for it in found if it["code"] == "CM009"]
    read = not any(it["code"] in ("CM002", "CM003") for it in found)
    assert read is not bool(refused), "a file is read, or it is reported"
    return refused


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "n.h").write_text('#include "more.h"\n')
    (tmp_path / "elsewhere" / "more.h").write_text("#define N 1\n")
    (tmp_path / "project" / "kernels").mkdir(parents=True)
    return tmp_path / "project"


def test_a_path_that_leaves_the_workspace_is_named_once(folder: Path):
    (folder / "k.cl").write_text('#include "../elsewhere/n.h"\n#include "../elsewhere/n.h"\n' + KERNEL)
    (found,) = outside(folder)
    assert found["location"]["row"] == 1
    assert "elsewhere/n.h" in found["message"]


def test_an_absolute_path_is_named(folder: Path):
    (folder / "k.cl").write_text(f'#include "{folder.parent / "elsewhere" / "n.h"}"\n' + KERNEL)
    assert len(outside(folder)) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_link_that_leaves_the_workspace_is_named(folder: Path):
    (folder / "inner.h").symlink_to(folder.parent / "elsewhere" / "more.h")
    (folder / "k.cl").write_text('#include "inner.h"\n' + KERNEL)
    (found,) = outside(folder)
    assert "`inner.h`" in found["message"]


def test_what_lies_inside_is_not_reported(folder: Path):
    (folder / "n.h").write_text("#define N 1\n")
    (folder / "kernels" / "k.cl").write_text('#include "../n.h"\n' + KERNEL)
    assert outside(folder, "kernels/k.cl") == []


@pytest.mark.parametrize("marker", [".git", "clmap.toml"])
def test_a_repository_or_a_configuration_is_the_workspace(folder: Path, marker: str):
    (folder / "n.h").write_text("#define N 1\n")
    (folder / "kernels" / "k.cl").write_text('#include "../n.h"\n' + KERNEL)
    assert len(outside(folder / "kernels")) == 1
    (folder / marker).touch()
    assert outside(folder / "kernels") == []


def test_an_editor_shows_it_too(folder: Path):
    (folder / "clmap.toml").touch()
    text = '#include "../elsewhere/n.h"\n' + KERNEL
    documents = Documents()
    document = documents.open(TextDocumentItem((folder / "k.cl").as_uri(), "opencl", 1, text))
    snapshot = Engine(documents).analyse(document, Settings())
    assert [it.code for it in snapshot.findings if it.code == "CM009"] == ["CM009"]
