"""C loops as kernels: what a mark does, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

from nests import FIXTURES, analysed, nests_of
from warm import clmap

from clmap_lsp.cli import main
from clmap_lsp.source.ir import Loop, walk


def test_a_marked_loop_becomes_a_condition_on_an_id() -> None:
    nests = nests_of(
        "void f(float *x, int n)\n{\n// clmap: work-item(0)\nfor (int i = 2; i < n; i += 3) x[i] = 1;\n}\n"
    )
    (kernel,) = nests.program.kernels
    assert not any(isinstance(it, Loop) for it in walk(kernel.body))
    found = analysed(
        "// clmap: global=64 local=32 n=100 x=zeros(100)\n"
        "void f(float *x, int n)\n{\n// clmap: work-item(0)\nfor (int i = 2; i < n; i += 3) x[i] = 1;\n}\n"
    ).kernels[0]
    (access,) = found.accesses
    assert access.classified is not None
    assert access.classified.entries == ((3,),)
    assert access.classified.offset == ("2",)
    # 33 turns: 32 work-items of the first SIMD group and one of the second.
    assert access.totals is not None
    assert access.totals.requests == 2


def test_functions_without_marks_are_left_out_and_names_choose_loops() -> None:
    text = (
        "void f(float *x, int n)\n{\nfor (int j = 0; j < n; j++)\n"
        "for (int i = 0; i < n; i++) x[j*n+i] = 1;\n}\n"
    )
    assert not nests_of(text).program.kernels
    (kernel,) = nests_of(text, ("i", "j")).program.kernels
    assert not any(isinstance(it, Loop) for it in walk(kernel.body))


def test_loops_that_cannot_be_work_items_are_reported() -> None:
    nests = nests_of(
        "void f(float *x, int n)\n{\n// clmap: work-item(0)\n"
        "for (int i = 0; i < n; i++) { if (x[i] > 0) break; x[i] = 1; }\n}\n"
    )
    assert not nests.program.kernels
    assert any("left by `break`" in it.message for it in nests.program.problems)


def test_continue_ends_the_work_item_s_turn_only() -> None:
    found = analysed(
        "// clmap: global=64 local=32 n=64 x=zeros(64) y=zeros(64)\n"
        "void f(float *x, float *y, int n)\n{\n// clmap: work-item(0)\n"
        "for (int i = 0; i < n; i++) { if (i % 2) continue; x[i] = 1; }\ny[0] = 2;\n}\n"
    ).kernels[0]
    by_name = {it.access.buffer: it for it in found.accesses}
    assert by_name["x"].totals is not None
    assert by_name["x"].per_request is not None
    assert by_name["x"].per_request.ideal == 2  # 16 of 32 lanes
    assert by_name["y"].totals is not None
    assert by_name["y"].totals.requests == 2


def test_recurrences_are_told() -> None:
    nests = nests_of((FIXTURES / "loops" / "livermore.c").read_text())
    assert nests.recurrences["linear_recurrence"] == ("previous",)
    assert nests.recurrences["hydro_fragment"] == ()


def test_sums_inside_a_turn_are_no_recurrence() -> None:
    nests = nests_of((FIXTURES / "loops" / "selection.c").read_text())
    assert set(nests.recurrences.values()) == {()}


def test_analyze_loops_gives_the_contract_s_fields(capsys) -> None:  # type: ignore[no-untyped-def]
    path = str(FIXTURES / "loops" / "livermore.c")
    assert main(["analyze", "--loops", path, "--format", "json"]) == 0
    kernels = json.loads(capsys.readouterr().out)["files"][0]["kernels"]
    hydro = next(it for it in kernels if it["name"] == "hydro_fragment")
    assert hydro["vectorization"]["qv_percent"] == 100.0
    assert hydro["vectorization"]["transformations"] == {"z": ["duplicate", "shifting"]}
    assert hydro["memory_selection"]["x"] == "global"
    first = hydro["accesses"][0]
    text = Path(path).read_text().splitlines()[first["location"]["row"] - 1]
    assert text[first["location"]["column"] - 1 :].startswith("y[k]")


def test_analyze_loops_without_a_mark_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "plain.c"
    path.write_text("void f(float *x) { for (int i = 0; i < 4; i++) x[i] = 0; }\n")
    done = clmap("analyze", "--loops", str(path))
    assert done.returncode == 2
    assert "work-item(0)" in done.stderr
