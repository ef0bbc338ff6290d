"""Programs that C++ puts together from the arguments of macros and from strings."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clmap_lsp.cli import main
from clmap_lsp.hosts.kernels import kernels_in
from clmap_lsp.source import chained
from clmap_lsp.source.chained import chains, without_joints
from clmap_lsp.source.embedded import find_embedded, kernels_of_host

HOST = """\
#include "text.hpp" // where R is defined
#include <string>
std::string program() { return R( // the device's half
)+R(float half_of(const float x) { // it's short
	return x*0.5f;
}
)+"#ifdef FORCES"+R(
constant float force = 1.0f;
)+"#endif"+R( // FORCES
)+R(kernel void scale)+"("+R(global float* a, const uint n // ) {
)+"#ifdef FORCES"+R(
	, global float* f
)+"#endif"+R( // FORCES
)+") {"+R( // scale()
	const uint i = get_global_id(0);
	if(i>=n) return;
	a[i] = half_of(a[i]);
}
);}
int main() { return sizeof(program()) + f("not of the program"); }
"""


def test_one_program_is_read_from_all_its_pieces():
    (found,) = find_embedded(HOST, "cpp")
    assert "kernel void scale(global float* a" in found.text
    assert "not of the program" not in found.text
    for word in ("half_of(const", "force = 1", "get_global_id", "#endif"):
        assert HOST.startswith(word, found.host_offset(found.text.index(word)))


def test_every_character_keeps_its_place():
    text, count = kernels_of_host(HOST, "kernel.cpp")
    assert count == 1
    assert len(text) == len(HOST)
    assert all(one in (" ", other) for one, other in zip(text, HOST, strict=True))
    assert "return x*0.5f" in text
    assert "std::string" not in text


def test_the_kernel_is_checked_at_its_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "kernel.cpp"
    path.write_text(HOST.replace("a[i] = half_of(a[i]);", "a[i*16u] = half_of(a[i*16u]);"))
    assert main(["check", str(path)]) == 1
    out = capsys.readouterr().out
    assert "kernel.cpp:17:" in out
    assert "CM101" in out
    assert "syntax-error" not in out


def test_kernels_are_found_by_their_heads():
    (kernel,) = kernels_in(HOST)
    assert kernel.name == "scale"
    assert [it.name for it in kernel.parameters][:2] == ["a", "n"]
    assert without_joints(HOST).count("\n") == HOST.count("\n")


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (
            "#define CL(...) #__VA_ARGS__\nauto s = CL(__kernel void k(global int *a) { a[0] = 1; });\n",
            1,
        ),
        (
            "#define CL(src) #src\nauto s = CL(kernel void k(global int *a) {})\nCL(kernel void q() {});\n",
            1,
        ),
        ("auto s = CODE(__kernel void k(global int *a) { if (a[0]) { a[0] = 1; } });\n", 1),
        ("void kernel(int a); int f() { return kernel(1) + g(a); }\n", 0),
        ("if (is_kernel(k)) { launch(kernel, void_of(x)); }\n", 0),
        ('log("kernel void k("); g(R"(kernel void q() {})");\n', 0),
    ],
)
def test_macros_that_hold_kernels(text: str, count: int):
    assert sum(1 for _ in chains(text)) == count


@given(
    st.lists(st.sampled_from(["f(", "(", ")", "kernel void k", "__kernel void k", "kernel", " ", "/*", "*/"]))
)
@example(["(", ")", "kernel void k"])
@example([")", "(", "kernel void k"])
@example(["/*", "(", "*/", "kernel void k", ")"])
def test_kernels_in_brackets_are_found_before_names_are_followed(words: list[str]):
    text = "".join(words)
    plain = re.sub(r"/\*.*?(?:\*/|\Z)", " ", text, flags=re.DOTALL)
    depth, expected = 0, False
    for token in re.findall(r"(?<!\w)(?:__)?kernel\s+void\s|[()]", plain):
        depth = max(depth + (token == "(") - (token == ")"), 0)
        expected |= depth > 0 and "kernel" in token
    assert chained._has_kernel_in_brackets(text) == expected


@given(st.text(alphabet="R(+)\"{}/*' \\n#kernlvoid;ab", max_size=120))
def test_any_text_is_taken(text: str):
    whole = f"kernel void {text}"
    ends = 0
    for chain in chains(whole):
        for piece in chain:
            assert ends <= piece.outer[0] <= piece.start <= piece.end <= piece.outer[1]
            ends = piece.outer[1]
    assert len(without_joints(whole)) == len(whole)


@pytest.mark.parametrize(
    "seed", ["R(", ")+R(", '"', "R(kernel void f)+", "(", ")", "/*", "//", 'R"(', "'", "#define R(a) #a\n"]
)
def test_long_texts_are_read_in_linear_time(seed: str):
    text = "R(kernel void k() {})+" + seed * (200_000 // len(seed))
    started = time.process_time()
    list(chains(text))
    without_joints(text)
    assert time.process_time() - started < 4.0
