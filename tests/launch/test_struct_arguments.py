"""Members of structs that a kernel takes by value: given by name, symbols of their own in formulas."""

from __future__ import annotations

import pytest

from clmap_lsp.access.analyse import analyse
from clmap_lsp.launch.arguments import parse_argument
from clmap_lsp.launch.model import MembersArgument, ScalarArgument
from clmap_lsp.launch.problem import LaunchError
from clmap_lsp.launch.resolve import _fitted, argument_text
from clmap_lsp.source.read import read_program

SOURCE = """
typedef struct { int dims[2]; int strides[2]; struct { int left, right; } pad; int2 v[2]; float f; } P;
__kernel void k(__global float *a, P p) {
    int x = get_global_id(0), y = get_global_id(1);
    a[x * p.strides[0] - y * p.strides[1] + p.pad.right] = p.f;
    a[p.v[1].x - p.v[0].x] = 1;
}
"""


def parameter():
    return read_program(SOURCE, "k.cl").kernels[0].parameters[1]


def given(text: str) -> dict[str, int | float]:
    argument = _fitted(parameter(), parse_argument(text, {"N": 64}))
    assert isinstance(argument, ScalarArgument)
    return {name: value for name, value in zip(argument.members, argument.values, strict=True) if value}


def test_every_member_is_a_symbol_of_its_own() -> None:
    accesses = analyse(read_program(SOURCE, "k.cl").kernels[0]).accesses
    assert [it.index_text for it in accesses] == [
        "x*p.strides[0] - y*p.strides[1] + p.pad.right",
        "p.v[1].s0 - p.v[0].s0",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{strides=[1,1024]}", {".strides[0]": 1, ".strides[1]": 1024}),
        ("{strides[1]=N*2, f=2.5}", {".strides[1]": 128, ".f": 2.5}),
        ("{pad={left=1,right=2}, pad.right=3}", {".pad.left": 1, ".pad.right": 3}),
        ("{v=[(1,2),(3,4)]}", {".v[0].s0": 1, ".v[0].s1": 2, ".v[1].s0": 3, ".v[1].s1": 4}),
        ("{v[1]=7}", {".v[1].s0": 7, ".v[1].s1": 7}),
        ("(1,2,3,4,5,6,7,8,9,10,11.5)", {".dims[0]": 1, ".strides[1]": 4, ".pad.right": 6, ".f": 11.5}),
    ],
)
def test_members_are_given_by_name(text: str, expected: dict[str, float]) -> None:
    found = given(text)
    assert expected.items() <= found.items()
    assert text.startswith("(") or found == expected


def test_what_is_printed_can_be_read_again() -> None:
    argument = _fitted(parameter(), parse_argument("{strides=[1,1024],f=0.5}"))
    again = _fitted(parameter(), parse_argument(argument_text(argument)))
    assert again == argument


@pytest.mark.parametrize(
    "text", ["{stride=1}", "{strides[2]=1}", "{strides}", "{strides=[1}", "{f=g}", "{f=1"]
)
def test_what_is_wrong_is_said(text: str) -> None:
    with pytest.raises(LaunchError):
        given(text)


def test_members_of_what_is_no_struct() -> None:
    kernel = read_program("__kernel void k(int n) { }", "k.cl").kernels[0]
    assert isinstance(parse_argument("{a=1}"), MembersArgument)
    with pytest.raises(LaunchError):
        _fitted(kernel.parameters[0], parse_argument("{a=1}"))
