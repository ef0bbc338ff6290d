"""What was known of documents goes when they close: nothing that holds a text is kept by anything else."""

from __future__ import annotations

import gc
import sys
import weakref
from pathlib import Path

from clmap_lsp.caches import clear_caches
from clmap_lsp.config import Settings
from clmap_lsp.dataclass import compile_rest, dataclass
from clmap_lsp.server.settings import selection_of
from clmap_lsp.server.turns import Turns
from clmap_lsp.server.warming import SAMPLE
from clmap_lsp.workbench import Workbench


def opened_and_closed(workbench: Workbench, path: str) -> list[weakref.ref[object]]:
    """Open and forget a file; return what was made of it and its kernels."""
    opened = workbench.open_text(path, SAMPLE, Settings())
    assert opened.findings(selection_of(opened.settings))
    made: list[weakref.ref[object]] = [weakref.ref(it) for it in opened.program.kernels]
    workbench.forget(path)
    return made


def test_nothing_of_a_closed_file_stays(tmp_path: Path) -> None:
    workbench = Workbench(remembers=True)
    made = opened_and_closed(workbench, str(tmp_path / "a.cl"))
    clear_caches()
    gc.collect()
    assert [it().name for it in made if it() is not None] == []


def test_launches_of_a_kernel_go_with_the_last_file_that_has_it(tmp_path: Path) -> None:
    workbench = Workbench(remembers=True)
    session = workbench._session
    paths = [str(tmp_path / name) for name in ("a.cl", "b.cl")]
    for path in paths:
        workbench.open_text(path, SAMPLE, Settings()).findings(selection_of(Settings()))
    for path in paths:
        workbench.forget(path)
    assert not session._kernels
    assert not session._launches._known


def test_all_is_forgotten_and_counted_on(tmp_path: Path) -> None:
    workbench = Workbench(remembers=True)
    path = str(tmp_path / "a.cl")
    workbench.open_text(path, SAMPLE, Settings()).findings(selection_of(Settings()))
    before = workbench.n_analysed
    assert before > 0
    workbench.forget_all()
    assert workbench.n_analysed == before
    workbench.open_text(path, SAMPLE, Settings()).findings(selection_of(Settings()))
    assert workbench.n_analysed == 2 * before


def test_a_projects_texts_from_the_editor_go_when_their_files_are_closed(tmp_path: Path) -> None:
    (tmp_path / "clmap.toml").write_text("")
    (tmp_path / "host.cpp").write_text('clCreateKernel(program, "multiply", &error);')
    workbench = Workbench(remembers=True)
    path = tmp_path / "a.cl"
    path.write_text("__kernel void of_the_disk(__global int *a) { a[0] = 1; }")
    workbench.open_text(str(path), SAMPLE, Settings()).findings(selection_of(Settings()))
    (project,) = workbench._hosts._projects.values()
    assert project.text(str(path.resolve())) == SAMPLE
    workbench.forget(str(path))
    assert SAMPLE not in project._texts.values()
    assert project.text(str(path.resolve())) == path.read_text()


def test_what_is_compiled_late_is_as_if_called() -> None:
    @dataclass(frozen=True, slots=True)
    class Pair:
        one: int
        two: int = 2

    waiting = Pair.__init__.__code__
    compile_rest()
    assert Pair.__init__.__code__ is not waiting
    assert Pair(1) == Pair(1, 2) != Pair(2)
    assert len({Pair(1), Pair(1, 2)}) == 1


def test_threads_are_ready_before_they_are_needed() -> None:
    turns = Turns("ready")
    turns.start_threads(3)
    assert len(turns._pool._threads) == 3
    turns.close()


def test_names_that_were_looked_up_go_with_the_caches() -> None:
    names = ["".join(("looked_up_", str(it))) for it in range(50)]
    before = sum(map(sys.getrefcount, names))
    assert [it for it in names if hasattr(Workbench, it)] == []
    assert sum(map(sys.getrefcount, names)) > before
    clear_caches()
    assert sum(map(sys.getrefcount, names)) == before
