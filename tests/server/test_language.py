"""The language features as an editor asks for them: names, types, calls, completion, tokens."""

from __future__ import annotations

import re

import pytest
from session import Session
from test_features import SWAPPED

from clmap_lsp.server.features.formatting import program

HEADER = "// A point.\ntypedef struct { float4 place; int n; } point_t;\nfloat weight(float x, int k);\n"
KERNEL = """\
#include "points.h"
#define TILE 16
#define AT(row, column) ((row) * TILE + (column))

float weight(float x, int k) { return x * (float)k; }

// Sums the points.
__kernel void total(__global const float *values, __global point_t *points, const int count)
{
    __local float tile[TILE];
    const int gid = get_global_id(0);
    float sum = 0.0f;
    for (int k = 0; k < count; k++)
        sum += weight(values[AT(k, gid)], k);
    tile[get_local_id(0)] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    points[gid].place.xy = (float2)(sum, clamp(sum, 0.0f, 1.0f));
#ifdef NEVER
    int inactive = 1;
#endif
}
"""
SNIPPETS = {
    "textDocument": {"completion": {"completionItem": {"snippetSupport": True}}},
    "window": {"workDoneProgress": True},
}


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    folder = tmp_path_factory.mktemp("language")
    (folder / "points.h").write_text(HEADER)
    made = Session(folder, SNIPPETS, settings={"emulate": "off"})
    made.kernel = made.open(KERNEL)
    yield made
    made.client.__exit__()


def at(text, needle, nth=0, inside=0):
    """Return the position of the nth place of a text."""
    offset = -1
    for _ in range(nth + 1):
        offset = text.index(needle, offset + 1)
    before = text[: offset + inside]
    return {"line": before.count("\n"), "character": len(before) - before.rfind("\n") - 1}


def ask(session, method, needle, nth=0, inside=0, uri=None, text=KERNEL, **more):
    params = {
        "textDocument": {"uri": uri or session.kernel},
        "position": at(text, needle, nth, inside),
        **more,
    }
    return session.request(f"textDocument/{method}", params)


def starts(locations):
    return [(it["uri"].rsplit("/")[-1], it["range"]["start"]["line"]) for it in locations]


def test_definition_declaration_and_type_definition(session):
    assert starts(ask(session, "definition", "weight(values")) == [("k.cl", 4)]
    assert starts(ask(session, "declaration", "weight(values")) == [("points.h", 2)]
    assert starts(ask(session, "typeDefinition", "points[gid]")) == [("points.h", 1)]
    assert starts(ask(session, "definition", "AT(k")) == [("k.cl", 2)]
    assert starts(ask(session, "definition", "points.h", inside=2)) == [("points.h", 0)]
    assert starts(ask(session, "definition", "place.xy")) == [("points.h", 1)]
    assert ask(session, "definition", "barrier(") == []


def test_references_are_found_in_macros_arguments_and_headers(session):
    context = {"includeDeclaration": True}
    assert starts(ask(session, "references", "gid =", context=context)) == [
        ("k.cl", 10),
        ("k.cl", 13),
        ("k.cl", 16),
    ]
    found = ask(session, "references", "weight(values", context=context)
    assert sorted(starts(found)) == [("k.cl", 4), ("k.cl", 13), ("points.h", 2)]
    assert len(ask(session, "references", "weight(values", context={"includeDeclaration": False})) == 1
    assert sorted(starts(ask(session, "references", "TILE]", context=context))) == [
        ("k.cl", 1),
        ("k.cl", 2),
        ("k.cl", 9),
    ]


def test_highlights_tell_reads_from_writes(session):
    kinds = {it["range"]["start"]["line"]: it["kind"] for it in ask(session, "documentHighlight", "sum =")}
    assert kinds == {11: 3, 13: 3, 14: 2, 16: 2}


def test_rename_edits_every_place(session):
    edit = ask(session, "rename", "sum =", newName="total_sum")
    assert len(edit["changes"][session.kernel]) == 5
    prepared = ask(session, "prepareRename", "sum =")
    assert prepared["placeholder"] == "sum"


def test_rename_goes_into_headers(session):
    edit = ask(session, "rename", "weight(values", newName="weigh")
    assert {it.rsplit("/")[-1]: len(edits) for it, edits in edit["changes"].items()} == {
        "k.cl": 2,
        "points.h": 1,
    }


@pytest.mark.parametrize(
    ("needle", "name", "why"),
    [
        ("sum =", "gid", "declared already"),
        ("sum =", "float4", "a word of OpenCL C"),
        ("sum =", "get_global_id", "built into OpenCL C"),
        ("sum =", "2x", "not a name"),
        ("barrier(", "wait", "part of OpenCL C"),
        ("sum =", "TILE", "is a macro"),
    ],
)
def test_rename_says_why_it_is_refused(session, needle, name, why):
    session.client._next_id += 1
    number = session.client._next_id
    params = {"textDocument": {"uri": session.kernel}, "position": at(KERNEL, needle), "newName": name}
    session.client.send({"id": number, "method": "textDocument/rename", "params": params})
    answer = session.wait(lambda it: it.get("id") == number and "method" not in it)
    assert why in answer["error"]["message"]


def test_rename_is_refused_where_a_macro_means_two_things(session):
    text = "#define INC n += 1\nvoid f(int n) { INC; }\nvoid g(int n) { INC; }\n"
    uri = session.open(text, "macro.cl")
    session.client._next_id += 1
    number = session.client._next_id
    params = {"textDocument": {"uri": uri}, "position": at(text, "n) { INC"), "newName": "m"}
    session.client.send({"id": number, "method": "textDocument/rename", "params": params})
    answer = session.wait(lambda it: it.get("id") == number and "method" not in it)
    assert "the macro in line 1" in answer["error"]["message"]


def test_the_outline_has_kernels_first(session):
    found = session.request("textDocument/documentSymbol", {"textDocument": {"uri": session.kernel}})
    assert [it["name"] for it in found] == ["total", "weight", "TILE", "AT"]
    assert {it["name"] for it in found[0]["children"]} >= {"tile", "gid", "sum", "k"}


def test_the_outline_has_kernels_behind_what_is_half_written_and_constants_of_unnamed_enumerations(session):
    text = """\
enum { SMALL, LARGE = 3 };
typedef enum { RED } colour;
void inside() { enum { HIDDEN }; }
int half(int a,
__attribute__((reqd_work_group_size(8, 1, 1)))
__kernel void one(int a) {}
float value = 3
__kernel void two(int a) {}
"""
    uri = session.open(text, "outlined.cl")
    diagnostics = session.diagnostics(uri)
    found = session.request("textDocument/documentSymbol", {"textDocument": {"uri": uri}})
    assert [it["name"] for it in found] == ["one", "two", "SMALL", "LARGE", "colour", "inside", "value"]
    colour = next(it for it in found if it["name"] == "colour")
    assert [it["name"] for it in colour["children"]] == ["RED"]
    errors = [it["range"]["start"]["line"] for it in diagnostics if it["severity"] == 1]
    assert errors[0] in (3, 4, 5) and 6 in errors
    session.close(uri)


def test_members_stand_in_the_outline_below_the_structure_that_lists_them_alone(session):
    text = "typedef struct node node;\nstruct node;\nstruct node {\n    node *next;\n    int value;\n};\n"
    uri = session.open(text, "declared.cl")
    found = session.request("textDocument/documentSymbol", {"textDocument": {"uri": uri}})
    listed = {it["range"]["start"]["line"]: [inner["name"] for inner in it["children"]] for it in found}
    assert listed == {0: [], 2: ["next", "value"]}
    session.close(uri)


def test_workspace_symbols_know_files_that_are_not_open(session):
    (session.folder / "other.cl").write_text("__kernel void elsewhere(__global int *o) { o[0] = 1; }\n")
    found = session.request("workspace/symbol", {"query": "elsew"})
    assert [it["name"] for it in found] == ["elsewhere"]


def test_calls_go_both_ways(session):
    (item,) = ask(session, "prepareCallHierarchy", "weight(values")
    (caller,) = session.request("callHierarchy/incomingCalls", {"item": item})
    assert caller["from"]["name"] == "total"
    assert caller["fromRanges"][0]["start"]["line"] == 13
    (callee,) = session.request("callHierarchy/outgoingCalls", {"item": caller["from"]})
    assert callee["to"]["name"] == "weight"


def test_hover_says_what_a_name_is(session):
    def said(needle, nth=0):
        return ask(session, "hover", needle, nth)["contents"]["value"]

    assert "__local float tile[16]" in said("tile[TILE")
    assert "local memory" in said("tile[TILE")
    assert "offset 0, size 16" in said("point_t *")
    assert "12 bytes of padding" in said("point_t *")
    assert "float clamp(float x, float minval, float maxval)" in said("clamp(")
    assert "expands to" in said("AT(k")
    assert "(k) * 16 + (gid)" in said("AT(k")
    assert "32 bits" in said("int gid")
    assert "one work-group" in said("__local float")
    assert "differs between work-items" in said("gid =")
    assert "same for the whole work-group" in said("k = 0")
    assert "Sums the points" in said("total(")


def test_signatures_follow_the_arguments(session):
    text = KERNEL.replace("barrier(CLK", "weight(sum, ;\n    clamp(sum, \n    barrier(CLK")
    uri = session.open(text, "typing.cl")
    found = ask(session, "signatureHelp", "weight(sum, ", inside=12, uri=uri, text=text)
    assert found["signatures"][0]["label"] == "float weight(float x, int k)"
    assert found["activeParameter"] == 1
    found = ask(session, "signatureHelp", "clamp(sum, ", inside=11, uri=uri, text=text)
    shown = found["signatures"][found["activeSignature"]]["label"]
    assert shown == "float clamp(float x, float minval, float maxval)"
    assert found["activeParameter"] == 1


@pytest.mark.parametrize(
    ("call", "shown", "parameter"),
    [
        ("clamp(", "gentype clamp(gentype x, gentype minval, gentype maxval)", "gentype x"),
        (
            "clamp(points[0].place, min(1.0f, 2.0f), ",
            "float4 clamp(float4 x, float minval, float maxval)",
            None,
        ),
        ("min(gid, ", "int min(int x, int y)", "int y"),
        ("vload4(", "gentype4 vload4(size_t offset, const gentype *p)", "size_t offset"),
        (
            "read_imagef(image, smp, ",
            "float4 read_imagef(image2d_t image, sampler_t sampler, float2 coord)",
            None,
        ),
        ("AT(weight(sum, ", "float weight(float x, int k)", "int k"),
    ],
)
def test_signatures_say_the_types_that_the_arguments_so_far_give(session, call, shown, parameter):
    text = KERNEL.replace("    barrier(CLK", f"    {call};\n    barrier(CLK")
    text = text.replace("const int count)", "const int count, read_only image2d_t image, sampler_t smp)")
    uri = session.open(text, "so_far.cl")
    found = ask(session, "signatureHelp", f"    {call};", inside=len(call) + 4, uri=uri, text=text)
    signature = found["signatures"][found["activeSignature"]]
    assert signature["label"] == shown
    start, end = signature["parameters"][found["activeParameter"]]["label"]
    assert parameter is None or shown[start:end] == parameter
    session.close(uri)


def labels(session, typed, before="    barrier(CLK"):
    text = KERNEL.replace(before, f"    {typed}\n{before}", 1)
    session.n = getattr(session, "n", 0) + 1
    uri = session.open(text, f"c{session.n}.cl")
    found = ask(session, "completion", f"    {typed}\n", inside=len(typed) + 4, uri=uri, text=text)
    return uri, found["items"]


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        ("su", "sum"),
        ("get_lo", "get_local_id"),
        ("points[gid].pl", "place"),
        ("points[gid].place.", "x"),
        ("sum = we", "weight"),
        ("convert_uchar4_s", "convert_uchar4_sat"),
        ("#pragma OPENCL EXTENSION cl_khr_f", "cl_khr_fp64"),
        ("#if", "ifdef"),
        ('#include "po', "points.h"),
        ("// clmap: lo", "local"),
        ("fl", "float"),
        ("AT", "AT"),
        ("si", "size_t"),
        ("#if CL_VER", "CL_VERSION_2_0"),
        ("sampler_t s = CLK_ADDRESS_CLAMP | CL", "CLK_FILTER_NEAREST"),
        ("__attribute__((reqd_work_group_size(A", "AT"),
    ],
)
def test_completion_has_it_among_the_first(session, typed, wanted):
    _, items = labels(session, typed)
    assert wanted in [it["label"] for it in items[:12]], [it["label"] for it in items[:20]]


def test_completion_resolves_and_inserts_snippets(session):
    _, items = labels(session, "sum = wei")
    item = items[0]
    assert item["textEdit"]["newText"] == "weight(${1:x}, ${2:k})"
    assert (
        "float weight(float x, int k)"
        in session.request("completionItem/resolve", item)["documentation"]["value"]
    )
    _, items = labels(session, "sum = exp")
    resolved = session.request("completionItem/resolve", next(it for it in items if it["label"] == "exp2"))
    assert "3 ULP" in resolved["documentation"]["value"]


@pytest.mark.parametrize(
    ("typed", "label", "wanted"),
    [
        ("sum = cla|(sum, 0.0f, 1.0f);", "clamp", "sum = clamp(sum, 0.0f, 1.0f);"),
        ("sum = AT| (1, 2);", "AT", "sum = AT (1, 2);"),
        ("points.pl|", "place", "points->place"),
    ],
)
def test_completion_writes_what_fits_what_stands_there(session, typed, label, wanted):
    text = KERNEL.replace("    barrier(CLK", f"    {typed}\n    barrier(CLK")
    place = at(text, "|")
    text = text.replace("|", "")
    uri = session.open(text, "fits.cl")
    params = {"textDocument": {"uri": uri}, "position": place}
    items = session.request("textDocument/completion", params)["items"]
    item = next(it for it in items if it["label"] == label)
    edits = [item["textEdit"], *item.get("additionalTextEdits", [])]
    assert f"    {wanted}\n" in applied(text, edits)
    session.close(uri)


def test_completion_of_the_configuration(session):
    text = "[build]\nst\n[launch.total]\nlo\n"
    uri = session.open(text, "clmap.toml", "toml")
    found = ask(session, "completion", "st\n", inside=2, uri=uri, text=text)
    assert "standard" in [it["label"] for it in found["items"]]
    found = ask(session, "completion", "lo\n", inside=2, uri=uri, text=text)
    assert "local" in [it["label"] for it in found["items"]]
    session.close(uri)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('device = "', "nvidia-hopper"),
        ('[build]\nstandard = "', "CL2.0"),
        ("[ru", "rules"),
        ("[rules]\nig", "ignore"),
        ("[launch.", "total"),
        ("[launch.total]\n[bu", "build"),
        ("[launch.total]\nargs = { ", "points"),
        ("[launch.total]\nargs = { count = 3, va", "values"),
        ('[launch.total]\nargs = { values = "ra', "random"),
        ("[launch.total.args]\n", "values"),
        ("[launch.total]\nglo", "global"),
    ],
)
def test_completion_of_sections_and_values_of_the_configuration(session, text, wanted):
    uri = session.open(text, "clmap.toml", "toml")
    found = ask(session, "completion", text, inside=len(text), uri=uri, text=text)
    assert any(wanted in it["label"] for it in found["items"]), [it["label"] for it in found["items"]]
    session.close(uri)


def test_nothing_is_offered_in_a_comment_of_the_configuration(session):
    uri = session.open(text := "# de", "clmap.toml", "toml")
    assert ask(session, "completion", text, inside=4, uri=uri, text=text)["items"] == []
    session.close(uri)


def tokens_of(data, text):
    """Return `(word, type, modifiers)` of each token."""
    from clmap_lsp.index.meaning import MODIFIERS, TYPES

    lines = text.split("\n")
    line = character = 0
    found = []
    for delta_line, delta, length, type_, bits in zip(*[iter(data)] * 5, strict=True):
        line += delta_line
        character = delta if delta_line else character + delta
        words = {name for place, name in enumerate(MODIFIERS) if bits >> place & 1}
        found.append((lines[line][character : character + length], TYPES[type_], words))
    return found


def test_semantic_tokens_know_spaces_and_what_differs(session):
    document = {"textDocument": {"uri": session.kernel}}
    full = session.request("textDocument/semanticTokens/full", document)
    found = {}
    for word, type_, modifiers in tokens_of(full["data"], KERNEL):
        found.setdefault(word, (type_, modifiers))
    assert found["total"] == ("function", {"definition", "kernel"})
    assert found["values"][1] >= {"global", "uniform"}
    assert found["tile"][1] >= {"local"}
    assert "workItemDependent" in found["gid"][1]
    assert "uniform" in found["k"][1] or "uniform" in found["count"][1]
    assert found["AT"][0] == "macro"
    assert found["get_global_id"][1] == {"defaultLibrary", "workItemDependent"}
    assert found["int inactive = 1;"] == ("comment", {"inactive"})


def test_semantic_tokens_count_units_of_lines_that_are_not_ascii_alone(session):
    text = (
        "kernel void k(global int *o) {\n"
        "    /* \U0001d465 */ int first = 1; int second = 2; /* é */ int third = first;\n"
        "    int plain = third;\n"
        "    o[plain] = 1; /* 空 */ o[first] = second;\n"
        "}\n"
    )
    uri = session.open(text, "umlauts.cl")
    full = session.request("textDocument/semanticTokens/full", {"textDocument": {"uri": uri}})
    units = text.replace("\U0001d465", "xy")  # It is two units of UTF-16.
    found = [word for word, _, _ in tokens_of(full["data"], units)]
    assert found == re.findall(r"\b(?:k|o|first|second|third|plain)\b", units)


def test_semantic_tokens_by_range_and_by_difference(session):
    uri = session.open(KERNEL, "delta.cl")
    document = {"textDocument": {"uri": uri}}
    full = session.request("textDocument/semanticTokens/full", document)
    session.change(uri, KERNEL.replace("float sum = 0.0f", "float sum = gid"), 2)
    delta = session.request(
        "textDocument/semanticTokens/full/delta", {**document, "previousResultId": full["resultId"]}
    )
    data = list(full["data"])
    for edit in delta["edits"]:
        data[edit["start"] : edit["start"] + edit["deleteCount"]] = edit["data"]
    assert data == session.request("textDocument/semanticTokens/full", document)["data"]
    assert sum(len(it["data"]) for it in delta["edits"]) < len(data) / 2
    part = {"start": {"line": 8, "character": 0}, "end": {"line": 11, "character": 0}}
    ranged = session.request("textDocument/semanticTokens/range", {**document, "range": part})
    assert 0 < len(ranged["data"]) < len(data) / 2


def test_folding_selection_and_links(session):
    document = {"textDocument": {"uri": session.kernel}}
    folds = session.request("textDocument/foldingRange", document)
    assert (8, 19) in {(it["startLine"], it["endLine"]) for it in folds}
    assert any(it.get("kind") == "region" for it in folds)
    (chain,) = session.request(
        "textDocument/selectionRange", {**document, "positions": [at(KERNEL, "gid)], k")]}
    )
    sizes = []
    while chain:
        sizes.append((chain["range"]["start"]["line"], chain["range"]["end"]["line"]))
        chain = chain.get("parent")
    assert len(sizes) >= 5
    assert sizes[-1][0] == 0
    (link,) = session.request("textDocument/documentLink", document)
    assert link["target"].endswith("points.h")


def test_a_header_that_is_edited_is_seen_at_once(session):
    uri = session.open('#include "late.h"\nvoid f(void) { int x = VALUE; }\n', "uses.cl")
    header = session.open("#define VALUE 1\n", "late.h")
    text = '#include "late.h"\nvoid f(void) { int x = VALUE; }\n'
    assert "VALUE 1" in ask(session, "hover", "VALUE", uri=uri, text=text)["contents"]["value"]
    session.change(header, "#define VALUE 22\n", 2)
    assert "VALUE 22" in ask(session, "hover", "VALUE", uri=uri, text=text)["contents"]["value"]


def test_requests_for_text_that_holds_no_kernels_are_answered(session):
    uri = session.open("int main(void) { return 0; }\n", "host.c", "c")
    assert session.request("textDocument/documentSymbol", {"textDocument": {"uri": uri}}) == []


@pytest.mark.skipif(program() is None, reason="clang-format is not installed")
def test_formatting_changes_white_space_only(session):
    text = "__kernel void f(__global float*a,int n)\n{\n  a[ n ]=1;   // kept\n      a[0]=n;\n}\n"
    uri = session.open(text, "untidy.cl")
    options = {"tabSize": 4, "insertSpaces": True}
    params = {"textDocument": {"uri": uri}, "options": options}
    edits = session.request("textDocument/formatting", params)
    assert "a[n] = 1; // kept" in applied(text, edits)
    assert not any(set(it["newText"]) - set(" \n/kept") for it in edits)
    lines = {"start": {"line": 3, "character": 0}, "end": {"line": 3, "character": 3}}
    edits = session.request("textDocument/rangeFormatting", {**params, "range": lines})
    assert {it["range"]["start"]["line"] for it in edits} == {3}
    assert "a[0] =" in applied(text, edits)


@pytest.mark.skipif(program() is None, reason="clang-format is not installed")
def test_formatting_as_a_statement_is_ended_changes_its_line_only(session):
    text = "__kernel void f(__global float*a,int n)\n{\n    a[ n ]=1;\n    a[0]=n ;\n}\n"
    uri = session.open(text, "typed.cl")
    place = at(text, "n ;", inside=3)
    params = {"textDocument": {"uri": uri}, "options": {"tabSize": 4, "insertSpaces": True}}
    edits = session.request("textDocument/onTypeFormatting", {**params, "position": place, "ch": ";"})
    assert applied(text, edits) == text.replace("a[0]=n ;", "a[0] = n;")


UNTIDY = """\
float twice(float x) { return x + x; }
__kernel void f(__global float *a,
                int n)
{
\tif(n>3)
\t\ta[ 0 ]=twice(a[1]);
}
"""


@pytest.mark.skipif(program() is None, reason="clang-format is not installed")
def test_formatting_keeps_lines_and_braces_and_indents_as_the_editor_does(session):
    uri = session.open(UNTIDY, "untidy.cl")
    for size, spaces, indent in ((4, True, "    "), (2, True, "  "), (8, False, "\t")):
        options = {"tabSize": size, "insertSpaces": spaces}
        params = {"textDocument": {"uri": uri}, "options": options}
        edits = session.request("textDocument/formatting", params)
        wanted = UNTIDY.replace("\t", indent).replace("if(n>3)", "if (n > 3)").replace("[ 0 ]=", "[0] = ")
        assert applied(UNTIDY, edits) == wanted


@pytest.mark.skipif(program() is None, reason="clang-format is not installed")
@pytest.mark.parametrize("indent", ["  ", "    ", "\t"])
def test_an_editor_that_was_told_nothing_leaves_the_indentation_alone(session, indent):
    uri = session.open(text := UNTIDY.replace("\t", indent), "untidy.cl")
    params = {"textDocument": {"uri": uri}, "options": {"tabSize": 8, "insertSpaces": False}}
    wanted = text.replace("if(n>3)", "if (n > 3)").replace("[ 0 ]=", "[0] = ")
    assert applied(text, session.request("textDocument/formatting", params)) == wanted


LINUX = """\
__kernel void f(__global float *a, int n)
{
    if (n > 3) {
        a[0] = n;
    }
}
"""
ALLMAN = LINUX.replace(" {\n        a", "\n    {\n        a")
ATTACHED = LINUX.replace(")\n{", ") {")


@pytest.mark.skipif(program() is None, reason="clang-format is not installed")
@pytest.mark.parametrize(
    "text", [LINUX, ALLMAN, ATTACHED, LINUX.replace("\n", "\r\n"), ALLMAN.replace("\n", "\r\n")]
)
def test_formatting_leaves_braces_of_functions_and_statements_where_they_are(session, text):
    untidy = text.replace("a[0] = n", "a[ 0 ]=n")
    uri = session.open(untidy, "braces.cl")
    params = {"textDocument": {"uri": uri}, "options": {"tabSize": 4, "insertSpaces": True}}
    assert applied(untidy, session.request("textDocument/formatting", params)) == text
    session.close(uri)


@pytest.mark.skipif(program() is None, reason="clang-format is not installed")
def test_formatting_follows_a_file_of_styles(session):
    style = session.folder / "styled" / ".clang-format"
    style.parent.mkdir()
    style.write_text("BasedOnStyle: LLVM\nIndentWidth: 3\n")
    uri = session.open(UNTIDY, "styled/untidy.cl")
    params = {"textDocument": {"uri": uri}, "options": {"tabSize": 8, "insertSpaces": True}}
    found = applied(UNTIDY, session.request("textDocument/formatting", params))
    assert "int n) {\n   if (n > 3)\n      a[0] = twice(a[1]);\n}" in found


STYLED = """\
#include "b.h"
#include "a.h"
__kernel void f(int const n, __global int *a)
{
  if (n) a[ 0 ]=n;;
  printf("a string that is longer than the columns that there are, and is broken by most styles");
}
"""


@pytest.mark.skipif(program() is None, reason="clang-format is not installed")
@pytest.mark.parametrize(
    "style",
    [
        "BasedOnStyle: LLVM",  # It sorts includes, and breaks strings.
        "Language: C\nBasedOnStyle: LLVM",
        "InsertBraces: true\nRemoveSemicolon: true\nQualifierAlignment: Left",
    ],
)
def test_styles_that_change_code_format_the_white_space_only(session, style):
    place = session.folder / "changing" / ".clang-format"
    place.parent.mkdir(exist_ok=True)
    place.write_text(style + "\n")
    uri = session.open(STYLED, "changing/k.cl")
    params = {"textDocument": {"uri": uri}, "options": {"tabSize": 4, "insertSpaces": True}}
    found = applied(STYLED, session.request("textDocument/formatting", params))
    assert "a[0] = n;" in found
    assert "".join(found.split()) == "".join(STYLED.split())


@pytest.mark.skipif(program() is None, reason="clang-format is not installed")
def test_a_style_that_cannot_be_read_is_told_when_a_person_formats_not_at_each_semicolon(session):
    place = session.folder / "broken" / ".clang-format"
    place.parent.mkdir()
    place.write_text("nonsense: [")
    uri = session.open(UNTIDY, "broken/k.cl")
    params = {"textDocument": {"uri": uri}, "options": {"tabSize": 4, "insertSpaces": True}}
    typed = {**params, "position": {"line": 5, "character": 24}, "ch": ";"}
    assert session.request("textDocument/onTypeFormatting", typed) == []
    answer = session.client.request("textDocument/formatting", params)
    assert ".clang-format" in answer["error"]["message"]


@pytest.mark.skipif(program() is None, reason="clang-format is not installed")
def test_a_selection_of_whole_lines_does_not_format_the_next(session):
    text = "void f(int *a)\n{\n    a[ 0 ]=1;\n    a[ 1 ]=1;\n}\n"
    uri = session.open(text, "lines.cl")
    lines = {"start": {"line": 2, "character": 0}, "end": {"line": 3, "character": 0}}
    params = {"textDocument": {"uri": uri}, "options": {"tabSize": 4, "insertSpaces": True}, "range": lines}
    found = applied(text, session.request("textDocument/rangeFormatting", params))
    assert found == text.replace("a[ 0 ]=1", "a[0] = 1")


def applied(text, edits):
    """Return a text with edits applied; lines end in one character."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    offset = lambda it: starts[it["line"]] + it["character"]  # noqa: E731
    for edit in sorted(edits, key=lambda it: offset(it["range"]["start"]), reverse=True):
        start, end = offset(edit["range"]["start"]), offset(edit["range"]["end"])
        text = text[:start] + edit["newText"] + text[end:]
    return text


def test_a_call_that_is_being_typed_shows_the_overload_of_its_first_arguments(session):
    text = KERNEL.replace("    barrier(CLK", "    clamp(1.0f, )\n    barrier(CLK")
    uri = session.open(text, "typed.cl")
    found = ask(session, "signatureHelp", "clamp(1.0f, ", inside=12, uri=uri, text=text)
    shown = found["signatures"][found["activeSignature"]]["label"]
    assert shown == "float clamp(float x, float minval, float maxval)"
    assert found["activeParameter"] == 1


def test_a_function_that_several_files_define_is_that_of_the_same_type(session):
    text = "float twice(int n);\nkernel void uses_twice(global float *o) { o[0] = twice(1); }\n"
    uri = session.open(text, "twice/uses.cl")
    session.open("float twice(float x) { return x + x; }\n", "twice/floats.cl")
    session.open("float twice(int n) { return n + n; }\n", "twice/ints.cl")
    found = ask(session, "definition", "twice(1)", uri=uri, text=text)
    assert starts(found) == [("ints.cl", 0)]


def test_calls_through_macros_are_calls(session):
    text = """\
#define CALL(x) inner_(x) + /* \U0001d518 */ inner_(x)
float inner_(float x) { return x; }
/* \U0001d518 */ float outer_(float q) { return CALL(q); }
"""
    uri = session.open(text, "calls.cl")
    (item,) = ask(session, "prepareCallHierarchy", "inner_(float", uri=uri, text=text)
    (call,) = session.request("callHierarchy/incomingCalls", {"item": item})
    assert call["from"]["name"] == "outer_"
    assert call["fromRanges"][0]["start"] == {"line": 2, "character": 40}


SHARED = """\
#define OFF base_off
#define ARGS __global float *a, int n
typedef struct { int px; } part;
__kernel void inheader(__global part *p) { p->px = OFF_OR_0; }
int helper(int v);
"""
USES_SHARED = """\
#include "shared.h"
__kernel void here(ARGS, int base_off) { a[OFF] = helper(n); part q; q.px = 2; }
"""


@pytest.fixture(scope="module")
def sharing(session):
    """A header with a kernel, read by an open file and, through another header, by a closed one."""
    folder = session.folder / "sharing"
    folder.mkdir()
    (folder / "shared.h").write_text(SHARED)
    (folder / "middle.h").write_text('#include "shared.h"\n')
    closed = USES_SHARED.replace("shared.h", "middle.h").replace("here", "there")
    (folder / "closed.cl").write_text(closed)
    return session.open(SHARED, "sharing/shared.h"), session.open(USES_SHARED, "sharing/uses.cl")


@pytest.mark.parametrize("needle", ["px; }", "helper(", "ARGS"])
def test_uses_of_what_a_header_with_kernels_declares_are_found_in_files_that_are_closed(
    session, sharing, needle
):
    params = {"uri": sharing[0], "text": SHARED, "context": {"includeDeclaration": False}}
    found = starts(ask(session, "references", needle, **params))
    assert {"uses.cl", "closed.cl"} <= {name for name, _ in found}
    edit = ask(session, "rename", needle, uri=sharing[0], text=SHARED, newName="other")
    assert {it.rsplit("/")[-1] for it in edit["changes"]} == {"shared.h", "uses.cl", "closed.cl"}


def test_a_header_s_names_are_renamed_however_many_documents_are_open(session):
    header = session.open("#define ARGS int n\nint helper_of_many(int v);\n", "many/many.h")
    text = '#include "many.h"\nkernel void k{}(ARGS) {{ int x = helper_of_many(n); }}\n'
    uris = [session.open(text.format(it), f"many/uses{it}.cl") for it in range(30)]
    edit = ask(session, "rename", "helper_of", uri=uris[0], text=text.format(0), newName="renamed")
    assert set(edit["changes"]) == {header, *uris}
    for it in (header, *uris):
        session.close(it)


def refusal(session, needle, uri, text):
    session.client._next_id += 1
    number = session.client._next_id
    params = {"textDocument": {"uri": uri}, "position": at(text, needle), "newName": "other"}
    session.client.send({"id": number, "method": "textDocument/rename", "params": params})
    return session.wait(lambda it: it.get("id") == number and "method" not in it)["error"]["message"]


def test_rename_is_refused_where_a_header_s_macro_means_something_else_in_another_file(session, sharing):
    said = refusal(session, "base_off)", sharing[1], USES_SHARED)
    assert "line 1 of `shared.h`" in said
    assert "`closed.cl`" in said


def test_parameters_that_a_shared_macro_declares_are_renamed_in_all_files(session, sharing):
    edit = ask(session, "rename", "n);", uri=sharing[1], text=USES_SHARED, newName="count")
    assert {it.rsplit("/")[-1]: len(its) for it, its in edit["changes"].items()} == {
        "shared.h": 1,
        "uses.cl": 1,
        "closed.cl": 1,
    }


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("struct no", ["node"]),
        ("enum ", ["kind"]),
        ("sum = co", ["cos"]),
        ("const int whole = as_in", ["as_int"]),
        ("uchar narrow = convert_uchar_", ["convert_uchar_sat"]),
        ("hal", ["half", "half2"]),
        ("float summed = su", ["sum", "summed"]),
        ("__at", ["__attribute__"]),
        ("return ", ["sum", "gid"]),
        ("switch (k) { case ", ["LARGE"]),
        ("goto ", ["again"]),
        ("struct node made = { .", ["n"]),
        ("", ["sum", "float"]),
    ],
)
def test_the_likeliest_candidates_come_first(session, typed, first):
    tags = "struct node { int n; };\nenum kind { SMALL, LARGE };\n"
    text = tags + KERNEL.replace("    barrier(CLK", f"again:\n    {typed}\n    barrier(CLK", 1)
    uri = session.open(text, "likely.cl")
    found = ask(session, "completion", f"    {typed}\n", inside=len(typed) + 4, uri=uri, text=text)
    shown = [it["label"] for it in found["items"]]
    assert [it for it in shown if it in first][: len(first)] == first
    assert shown.index(first[0]) < 5
    session.close(uri)


@pytest.mark.parametrize(
    "typed", ["'su", "sum = 2.0f", "sum = 0x1f", 'printf("su', "// su", "/* su", "/* a */ // su", "sum = .5e"]
)
def test_nothing_is_offered_where_no_name_can_stand(session, typed):
    _, items = labels(session, typed)
    assert items == []


@pytest.mark.parametrize("before", ["// kernels/*.cl", 'printf("/*");', "char c = '\"';"])
def test_what_only_looks_like_a_comment_or_a_string_hides_nothing(session, before):
    _, items = labels(session, f"{before}\n    su")
    assert "sum" in [it["label"] for it in items[:5]]


@pytest.mark.parametrize(("typed", "never"), [("return ", "return"), ("sum = ", "for"), ("i", "__kernel")])
def test_words_that_cannot_stand_at_a_place_are_not_offered(session, typed, never):
    _, items = labels(session, typed)
    assert never not in [it["label"] for it in items]


def test_a_name_that_is_just_being_typed_is_not_offered(session):
    text = f"{KERNEL}__ker"
    uri = session.open(text, "end.cl")
    found = ask(session, "completion", "__ker", nth=1, inside=5, uri=uri, text=text)
    assert [it["label"] for it in found["items"]] == ["__kernel"]
    session.close(uri)


def test_conversions_that_do_not_exist_are_not_offered(session):
    _, items = labels(session, "sum = convert_float_")
    found = [it["label"] for it in items if it["label"].startswith("convert_float_")]
    assert sorted(found) == [f"convert_float_{it}" for it in ("rte", "rtn", "rtp", "rtz")]


def test_hover_expands_macros_level_by_level_and_places_bit_fields(session):
    text = """\
#define DEEP(x) MID((x), TWO)
#define MID(a, b) ((a) << (b))
#define TWO 2
struct flags { char tag; int low : 3; union { int whole; float part; }; int : 4; int high : 9; };
__kernel void k(__global int *r, __global struct flags *f) { r[0] = DEEP(1) + f->high; }
"""
    uri = session.open(text, "levels.cl")

    def said(needle):
        return ask(session, "hover", needle, uri=uri, text=text)["contents"]["value"]

    levels = ["MID((1), TWO)", "(((1)) << (2))"]
    places = [said("DEEP(1)").index(f"\n{it}\n") for it in levels]
    assert places == sorted(places)
    shown = said("flags {")
    assert "int low : 3;  // offset 1, bits 0 to 2" in shown
    assert "union { int whole; float part; };  // offset 4, size 4" in shown
    assert "offset 8, bits 4 to 12 of 12 bytes" in said("high; }\n")


def test_signatures_of_built_ins_are_those_of_the_specification(session):
    text = KERNEL.replace("    barrier(CLK", "    float4 q = vload4(0, values);\n    barrier(CLK")
    uri = session.open(text, "shown.cl")
    found = ask(session, "signatureHelp", "vload4(0, ", inside=10, uri=uri, text=text)
    assert found["signatures"][0]["label"] == "float4 vload4(size_t offset, const __global float *p)"


MAKING = """\
#define KERNEL(name, code) \\
    __kernel void name(__global float *a) { float src = a[0]; a[0] = (code); }
KERNEL(first, (sr%s
__kernel void other(__global int *b) { b[0] = 1; }
"""


@pytest.mark.parametrize("rest", ["", " < 1 ? 2 : 3)", "))"])
def test_arguments_of_a_macro_that_is_not_closed_yet_see_what_it_declares(session, rest):
    text = MAKING % rest
    uri = session.open(text, "made.cl")
    found = ask(session, "completion", "(sr", inside=3, uri=uri, text=text)
    assert found["items"][0]["label"] == "src"


HALF = """\
__kernel void f(__global float *a)
{
    clamp(1.0f,
    for (int k = 0; k < 2; k++)
        a[k] = k;
}
"""


def test_what_is_said_of_a_half_written_statement_is_said_once(session):
    uri = session.open(HALF, "half.cl")
    found = [it for it in session.diagnostics(uri) if it["range"]["start"]["line"] in (2, 3)]
    assert [(it["code"], it["message"]) for it in found] == [("CM001", "expected expression")]


WALKING = SWAPPED.replace("local=32,8", "local=16,16")


def test_notes_are_plain_text_as_messages_are(session):
    uri = session.open(WALKING, "walking.cl")
    notes = [
        note["message"]
        for it in session.diagnostics(uri)
        for note in it.get("relatedInformation") or ()
        if it["code"] == "CM104"
    ]
    assert any(it.startswith("A[r*N + k]: ") for it in notes)


SIZES = "#ifdef BIG\n#define SIZE 8\n#else\n#define SIZE 4\n#endif\n"


def test_a_macro_of_a_header_is_renamed_by_all_of_its_definitions_in_all_files(session):
    header = session.open(SIZES, "sizes.h")
    small = session.open('#include "sizes.h"\nint small[SIZE];\n', "small.cl")
    big = session.open('#define BIG\n#include "sizes.h"\nint big[SIZE];\n', "big.cl")
    params = {"textDocument": {"uri": small}, "position": {"line": 1, "character": 11}, "newName": "LANES"}
    changes = session.request("textDocument/rename", params)["changes"]
    places = {uri: sorted(it["range"]["start"]["line"] for it in edits) for uri, edits in changes.items()}
    assert places == {header: [1, 3], small: [1], big: [2]}
    for uri in (header, small, big):
        session.close(uri)


PINNED = """\
// clmap: global=n local=16 values=random(n) n=64
// clmap: kernel=other global=8 values=zeros(8)
__kernel void scale(__global float *values, int n) { values[n] = 1; /* values */ }
__kernel void other(__global float *values) { values[0] = 1; }
"""


@pytest.mark.parametrize(
    ("needle", "new", "wanted"),
    [
        ("values, int", "data", PINNED.replace("values", "data", 1).replace("*values, int", "*data, int")),
        ("n) {", "count", PINNED.replace("global=n", "global=count").replace("(n) n=", "(count) count=")),
        ("other(", "last", PINNED.replace("other", "last")),
    ],
)
def test_a_rename_changes_launch_comments_of_the_kernel(session, needle, new, wanted):
    uri = session.open(PINNED, "pinned.cl")
    changes = ask(session, "rename", needle, uri=uri, text=PINNED, newName=new)["changes"]
    wanted = wanted.replace("{ values[n]", "{ data[n]") if new == "data" else wanted
    wanted = wanted.replace("int n)", "int count)").replace("[n]", "[count]") if new == "count" else wanted
    assert applied(PINNED, changes[uri]) == wanted
    session.close(uri)


TWICE = """\
#define ALL CASE(1) CASE(2)
#define CASE(x) int f##x;
ALL
#undef CASE
#define CASE(x) int g##x;
ALL CASE(3)
"""


def test_a_macro_that_is_defined_twice_leads_to_both_where_either_may_be_meant(session):
    uri = session.open(TWICE, "twice.cl")
    assert starts(ask(session, "definition", "CASE(1)", uri=uri, text=TWICE)) == [
        ("twice.cl", 1),
        ("twice.cl", 4),
    ]
    assert starts(ask(session, "definition", "CASE(3)", uri=uri, text=TWICE)) == [("twice.cl", 4)]
    assert starts(ask(session, "definition", "CASE(x) int f", uri=uri, text=TWICE)) == [("twice.cl", 1)]
    session.close(uri)


PARTLY = """\
#define AT(row, column) ((row) * 16 + column /* row */ + sizeof("row"))
typedef struct { int unnamed; } named;
float weigh(float x) { return x; }
kernel void k(global float *a, int n) {
    int gid = get_global_id(0);
#ifdef FAST
    float w = weigh(a[AT(gid, n)]); a[gid] = w * sqrt(a[0]); // gid
#endif
}
"""


@pytest.fixture(scope="module")
def partly(session):
    return session.open(PARTLY, "partly.cl")


@pytest.mark.parametrize(
    ("needle", "line"),
    [("weigh(a", 2), ("a[AT", 3), ("AT(gid", 0), ("gid, n", 4), ("w * s", None), ("gid\n", None)],
)
def test_names_in_lines_that_conditions_leave_out_lead_to_what_is_in_sight(session, partly, needle, line):
    found = ask(session, "definition", needle, uri=partly, text=PARTLY)
    assert [it["range"]["start"]["line"] for it in found] == ([] if line is None else [line])
    hover = ask(session, "hover", needle, uri=partly, text=PARTLY)
    assert (hover is None) == (line is None)


def test_built_ins_in_lines_that_conditions_leave_out_are_explained(session, partly):
    assert "Square root" in ask(session, "hover", "sqrt", uri=partly, text=PARTLY)["contents"]["value"]


@pytest.mark.parametrize(("nth", "inside"), [(0, 0), (1, 2), (1, 3)])
def test_parameters_of_macros_are_found_and_renamed(session, partly, nth, inside):
    where = {"uri": partly, "text": PARTLY, "nth": nth, "inside": inside}
    (found,) = ask(session, "definition", "row", **where)
    assert found["range"]["start"] == {"line": 0, "character": 11}
    assert len(ask(session, "documentHighlight", "row", **where)) == 2
    assert len(ask(session, "references", "row", context={"includeDeclaration": False}, **where)) == 1
    assert "a parameter of" in ask(session, "hover", "row", **where)["contents"]["value"]
    assert ask(session, "prepareRename", "row", **where)["placeholder"] == "row"
    (edits,) = ask(session, "rename", "row", newName="line", **where)["changes"].values()
    assert applied(PARTLY, edits).startswith(
        '#define AT(line, column) ((line) * 16 + column /* row */ + sizeof("row"))\n'
    )


def test_a_parameter_of_a_macro_is_not_renamed_to_what_stands_there(session, partly):
    params = {"textDocument": {"uri": partly}, "position": at(PARTLY, "row"), "newName": "column"}
    answer = session.client.request("textDocument/rename", params)
    assert answer["error"]["message"] == "`column` stands in the macro already"


def test_what_has_no_name_is_no_symbol_of_the_workspace(session, partly):
    assert all(it["name"] for it in session.request("workspace/symbol", {"query": ""}))


def test_the_call_of_a_macro_that_is_not_closed_shows_its_parameters(session):
    text = PARTLY.replace("#ifdef FAST", "    a[AT(gid, \n#ifdef FAST")
    uri = session.open(text, "unclosed.cl")
    found = ask(session, "signatureHelp", "AT(gid, ", inside=8, uri=uri, text=text)
    assert found["signatures"][0]["label"] == "AT(row, column)"
    assert found["activeParameter"] == 1
    session.close(uri)


def test_a_selection_grows_to_the_statement(session, partly):
    params = {"textDocument": {"uri": partly}, "positions": [at(PARTLY, "get_global_id")]}
    (found,) = session.request("textDocument/selectionRange", params)
    texts = []
    while found is not None:
        start, end = found["range"]["start"], found["range"]["end"]
        if start["line"] == end["line"]:
            texts.append(PARTLY.splitlines()[start["line"]][start["character"] : end["character"]])
        found = found.get("parent")
    assert "int gid = get_global_id(0);" in texts
