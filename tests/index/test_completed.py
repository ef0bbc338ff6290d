"""What is offered first where nothing of a word is typed yet, and how it fits what stands there."""

from __future__ import annotations

import pytest
from index_reading import index_of

from clmap_lsp.index.complete import complete
from clmap_lsp.index.reading import read_index
from clmap_lsp.source.lexer import cut
from clmap_lsp.source.made import Made, MovedUses, Step

TEXT = """\
#define AT(r, c) ((r) * 16 + (c))
enum mode { FAST, SLOW };
typedef struct { float4 place; int count; } point_t;
float weight(float x, enum mode how, int n) { return how == SLOW ? x : x * n; }
kernel void total(global const float *values, read_only image2d_t image, const int many)
{
    int gid = get_global_id(0);
    float sum = 0.0f;
    point_t own, *pointer = &own;
    @
}
"""


def offered(typed: str, around: str = TEXT) -> list[str]:
    text = around.replace("@", typed)
    offset = text.index("|")
    found = complete(index_of(text.replace("|", "", 1)), offset)
    return [it.label for it in found.candidates]


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("sum = weight(|)", "sum"),
        ("sum = weight(|", "sum"),
        ("sum = weight(sum, |)", "FAST"),
        ("barrier(|", "CLK_LOCAL_MEM_FENCE"),
        ("barrier(CLK_LOCAL_MEM_FENCE | |)", "CLK_GLOBAL_MEM_FENCE"),
        ("mem_fence(|);", "CLK_LOCAL_MEM_FENCE"),
    ],
)
def test_an_argument_is_offered_by_its_type_and_not_the_function_itself(typed, first):
    if typed.count("|") > 1:
        at = typed.rindex("|")
        text = TEXT.replace("@", typed[:at] + typed[at + 1 :])
        offset = TEXT.index("@") + at
        labels = [it.label for it in complete(index_of(text), offset).candidates]
    else:
        labels = offered(typed)
    assert labels[0] == first


def test_a_macro_is_no_argument_of_itself():
    assert offered("sum = values[AT(|")[0] != "AT"


def test_the_image_is_wanted_before_its_sampler():
    assert not offered("read_imagef(|")[0].startswith("CLK_")
    assert offered("read_imagef(image, |")[0].startswith("CLK_")


def test_the_sampler_is_given_before_the_coordinates():
    assert not offered("read_imagef(image, CLK_FILTER_NEAREST, |")[0].startswith("CLK_")
    assert not offered("read_imagef(image, sampler, (|")[0].startswith("CLK_")


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("values[get_local_size(|)]", {"many", "gid"}),
        ("sum = clamp(sum, 0.0f, |)", {"sum"}),
        ("sum = fmax(|", {"sum"}),
        ("for (int i = 0; i < |", {"i", "many", "gid"}),
        ("if (sum > |)", {"sum", "weight"}),
        ("switch (gid) { case |", {"FAST", "SLOW"}),
    ],
)
def test_operands_and_arguments_of_built_in_functions_are_offered_by_type(typed, first):
    text = TEXT.replace("@", "values; pointer = &own; AT(1, 2); @")  # Used last, and of other types.
    assert offered(typed, text)[0] in first


@pytest.mark.parametrize(("word", "space"), [("__kernel", "__global"), ("kernel", "global")])
def test_parameters_of_kernels_begin_with_an_address_space_as_the_file_spells_it(word, space):
    assert space in offered("|", f"{word} void k(@")[:2]


def test_behind_a_qualifier_stands_a_type_or_another_one():
    assert offered("g|", "kernel void k(global int *a, const @)")[0] == "global"


def test_conditions_ask_about_no_macro_that_takes_arguments():
    assert not any("(" in it for it in offered("#ifdef __|", "@\n"))


def test_no_names_follow_a_directive_that_takes_none():
    assert offered("#include |", "@\n") == []
    assert offered("#error in|", "@\n") == []


@pytest.mark.parametrize(("typed", "arrow"), [("pointer.|", "."), ("pointer.pl|", "."), ("own.|", None)])
def test_a_dot_behind_a_pointer_becomes_an_arrow(typed, arrow):
    text = TEXT.replace("@", typed)
    offset = text.index("|")
    found = complete(index_of(text.replace("|", "")), offset)
    assert found.candidates[0].label == "place"
    assert (None if found.arrow_for is None else text[found.arrow_for]) == arrow


def test_types_of_names_are_put_in_words_once(monkeypatch):
    twice = "int twice(const int *value) { return *value * 2; }\n"
    text = f"{twice}kernel void k(global float4 *out) {{ int a = 1, b = a; \n}}\n"
    index = index_of(text)
    before = complete(index, text.index("\n}"))
    asked: list[str] = []
    monkeypatch.setattr("clmap_lsp.index.complete.spelled", lambda type_: asked.append(type_) or "")
    edited = text.replace("a; \n", "a; t\n")
    found = complete(read_index(edited, index.path, index.options, previous=index), edited.index("\n}"))
    assert asked == []
    details = {it.label: it.detail for it in before.candidates}
    assert {it.label: it.detail for it in found.candidates}["twice"] == details["twice"] != ""


def test_what_stands_at_a_place_is_found_in_macros_whether_asked_once_or_again():
    tokens = cut("a.cl", "a b c d e f", 0)
    made = Made(tokens)
    first, again = (sorted(made.starting("a.cl", 2, 6)) for _ in range(2))
    assert first == again == [1, 2, 3]
    moved = made.moved([Step("a.cl", 0, 11, 5)], MovedUses(5))
    assert sorted(moved.starting("a.cl", 7, 11)) == [1, 2, 3]
