"""What a program costs to follow grows with it, not with its square: counted in what is looked at."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from host_code import numbers, read

from clmap_lsp.hosts import runs, walking
from clmap_lsp.hosts.interpreter.state import State
from clmap_lsp.hosts.store import Store
from clmap_lsp.hosts.tree import Call, Name

LAUNCH = """\
#include <CL/cl.h>
void launch(cl_program p, cl_command_queue q, cl_mem a, int n) {
  cl_kernel k = clCreateKernel(p, "scale", 0);
  clSetKernelArg(k, 0, sizeof a, &a);
  clSetKernelArg(k, 1, sizeof n, &n);
  size_t global = 1024, local = 64;
  clEnqueueNDRangeKernel(q, k, 1, 0, &global, &local, 0, 0, 0);
}
"""


def counted(monkeypatch: pytest.MonkeyPatch, where: object, name: str) -> list[object]:
    """Return where the first arguments go of each call from now on."""
    seen: list[object] = []
    original: Callable[..., Any] = getattr(where, name)

    def call(*given: Any, **named: Any) -> Any:
        seen.append(given[0])
        return original(*given, **named)

    monkeypatch.setattr(where, name, call)
    return seen


def test_callers_of_callers_look_at_each_function_of_a_file_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    length = 60
    chain = "void step0(int n) { launch(0, 0, 0, n); }\n"
    chain += "".join(f"void step{it}(int n) {{ step{it - 1}(n); }}\n" for it in range(1, length))
    seen = counted(monkeypatch, runs, "called_names")
    found = read(tmp_path, main_dot_c=f"{LAUNCH}{chain}int main() {{ step{length - 1}(9); }}\n")
    assert numbers(found["scale"]) == ([1024], [64])
    assert len(seen) < 10 * length, "each of them was asked what it calls for each of them"


def test_a_loop_reads_again_only_what_it_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    places = 400
    variables = "".join(f"  int v{it} = {it};\n" for it in range(places))
    loop = "  int s = 0;\n  while (s < argc) s += argc;\n"
    seen = counted(monkeypatch, Store, "read")
    main = f"int main(int argc, char **argv) {{\n{variables}{loop}  launch(0, 0, 0, s);\n}}\n"
    found = read(tmp_path, main_dot_c=LAUNCH + main)
    assert numbers(found["scale"]) == ([1024], [64])
    assert found["scale"].arguments["n"].number is None
    assert len(seen) < places, "what the loop leaves alone was read"


def test_the_fields_of_what_is_handed_out_are_opened_in_one_walk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    fields = 50
    kind = "struct Options {" + "".join(f" int f{it};" for it in range(fields)) + " };\n"
    given = "".join(f"  options.f{it} = {it + 3};\n" for it in range(fields))
    seen = counted(monkeypatch, State, "open_at")
    main = (
        f"{kind}int main(int argc, char **argv) {{\n  struct Options options;\n{given}"
        "  parse_them(&options, argc, argv);\n  launch(0, 0, 0, options.f7);\n}\n"
    )
    found = read(tmp_path, main_dot_c=LAUNCH + main)
    n = found["scale"].arguments["n"]
    assert (n.number, str(n.text)) == (None, "options.f7"), "who takes its address may write to it"
    assert len(seen) < fields


def test_what_nodes_are_made_of_is_found_once_for_each_kind(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(walking, "_PARTS", {}, raising=False)
    seen = counted(monkeypatch, walking, "fields")
    tree = tuple(Call(Name("f"), (Name("a"), Name("b"))) for _ in range(100))
    assert len(list(walking.nodes(tree))) == 400
    assert len(seen) == 2
