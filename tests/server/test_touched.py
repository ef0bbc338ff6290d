"""What an edit touches: read in part, a large file says what it says read whole."""

import asyncio
import json
import random
import re

import pytest
from sweeps import drawn

from benchmarks import giants
from clmap_lsp.config import Settings
from clmap_lsp.index.touched import Layout
from clmap_lsp.server.app import create_server
from clmap_lsp.server.documents import Document, Documents
from clmap_lsp.server.engine import Engine
from clmap_lsp.server.publishing import diagnostics_of

URI = "file:///folder/k.cl"


def kernel(number: int) -> str:
    return f"""
float helper{number}(__global const float *a, int i) {{
    return a[i * {number + 2}] + shared_by_all(i);
}}

// clmap: global=256 local=64
__kernel void k{number}(__global float *a, __global float *b, int n) {{
    __local float tile[64];
    int i = get_global_id(0);
    tile[get_local_id(0)] = a[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = 0; j < 4; j++)
        b[i * {number + 1}] += helper{number}(a, i + j) * tile[63 - get_local_id(0)];
    // {"x" * 700}
}}
"""


TEXT = (
    "float shared_by_all(int i) { return (float)i; }\n"
    "#define TWICE(x) ((x) * 2)\n"
    "__constant float table[4] = {1, 2, 3, 4};\n"
) + "".join(kernel(it) for it in range(14))


class Editor:
    """One document in an engine."""

    def __init__(self, text):
        self.server = create_server()
        self.engine = Engine(Documents())
        self.version = 1
        self.whole = self.engine.analyse(Document(URI, "opencl", 1, text), Settings())

    def touch(self, text):
        self.version += 1
        return self.engine.touch(Document(URI, "opencl", self.version, text), self.whole)


def shown(editor, *snapshots):
    return sorted(
        (
            *(it.range.start.line, it.range.start.character, it.range.end.line, it.range.end.character),
            *(it.code, it.severity.value, it.message),
        )
        for it in diagnostics_of(editor.server, *snapshots, limit=None)
    )


def afresh(text):
    editor = Editor(text)
    return shown(editor, editor.whole)


def inserted(text, behind, what):
    at = text.index(behind) + len(behind)
    return text[:at] + what + text[at:]


@pytest.mark.parametrize(
    "what",
    [
        "\n    b[i * 32] = 1.0f;",
        "\n    b[i] = undefined_name;",
        "\n    b[i] = helper0(a, i + 1);",
        "\n    b[TWICE(i)] = table[i & 3];",
        "\n    if (i < n) { b[i] = 2; }",
        "\n    b[i] = ;",
        "\n    int é = 1; // 🙂",
    ],
)
def test_an_edit_in_one_kernel_shows_what_a_whole_reading_shows(what):
    editor = Editor(TEXT)
    text = inserted(TEXT, "    int i = get_global_id(0);", what)
    found = editor.touch(text)
    assert found is not None
    assert {it.name for it in found.part.analysis.kernels} <= {"k0"}
    assert shown(editor, found.part, found.rest) == afresh(text)


CONDITIONAL = TEXT.replace(
    "    barrier(CLK_LOCAL_MEM_FENCE);\n",
    "#if defined(FAST) && FAST > 1\n    mem_fence(CLK_LOCAL_MEM_FENCE);\n"
    "#else\n    barrier(CLK_LOCAL_MEM_FENCE);\n#endif\n    #pragma unroll 2\n",
)
"""Bodies with directives that say nothing of the rest of the file."""


@pytest.mark.parametrize(
    ("behind", "what"),
    [
        ("    int i = get_global_id(0);", "\n    b[i * 32] = 1.0f;"),
        ("mem_fence(CLK_LOCAL_MEM_FENCE);", " i +"),
        ("#else\n", "    b[i * 32] = 1.0f;\n"),
    ],
)
def test_bodies_with_conditions_of_their_own_are_left_out(behind, what):
    editor = Editor(CONDITIONAL)
    text = inserted(CONDITIONAL, behind, what)
    found = editor.touch(text)
    assert found is not None
    assert {name for name, it in found.part.program.functions.items() if it.body is not None} == {
        *("k0", "helper0", "shared_by_all")
    }
    assert shown(editor, found.part, found.rest) == afresh(text)


@pytest.mark.parametrize(
    "directive",
    [
        "#define LATER 1\n",
        "#undef TWICE\n",
        "#if FAST\n#error no\n#endif\n",
        "#if 4 / FAST\n#endif\n",
        "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n",
        '#include "more.h"\n',
        "#if FAST && \\\n  1\n#endif\n",
    ],
)
def test_a_body_whose_directives_reach_out_of_it_stays(directive):
    """It is the fourth kernel's; the first one is edited."""
    at = TEXT.index("{\n", TEXT.index("void k3(")) + 2
    text = TEXT[:at] + directive + TEXT[at:]
    found = Editor(text).touch(inserted(text, "b, int n) {\n", "    i = 1;\n"))
    assert found is not None
    assert "k3" in {name for name, it in found.part.program.functions.items() if it.body is not None}


BROKEN = "\n    b[i] = helper0(;"


@pytest.mark.parametrize(
    "what", [BROKEN, "\n    b[i] = tile[;", "\n    floa", "\n    int i = 3;", "\n    b[i] = helper0(a);"]
)
def test_of_a_function_that_does_not_compile_all_is_said_at_once(what, monkeypatch):
    editor = Editor(TEXT)
    text = inserted(TEXT, "    int i = get_global_id(0);", what)
    monkeypatch.setattr("clmap_lsp.workbench.workbench.read_program", None)  # It is not read as a program.
    found = editor.touch(text)
    monkeypatch.undo()
    assert found is not None
    assert {it.name for it in found.rest.analysis.kernels} == {f"k{it}" for it in range(1, 14)}
    assert shown(editor, found.part, found.rest) == afresh(text)


@pytest.mark.parametrize("kind", ["ode", "chain", "cases", "fft"])
def test_of_a_large_function_what_compilers_say_comes_at_once(kind):
    text = giants.KINDS[kind](20_000).replace("{\n", "{\n    int never;\n", 1)
    editor = Editor(text)
    before = shown(editor, editor.whole)
    behind = text.index(";\n", len(text) // 2) + 1
    for what, is_right in (("\n    int used = 1; used++;", True), ("\n    int used = ;", False)):
        found = editor.touch(text[:behind] + what + text[behind:])
        assert found is not None
        assert bool(found.rest.analysis.kernels) == is_right
        now = shown(editor, found.part, found.rest)
        if is_right:
            moved = what.count("\n")
            row = text.count("\n", 0, behind)
            assert now == sorted(
                (a + moved * (a > row), b, c + moved * (c > row), *rest) for a, b, c, *rest in before
            )
        else:
            assert {it[4] for it in now} == {"CM001"}


def test_an_edit_of_what_most_functions_call_is_read_whole_in_a_pause():
    editor = Editor(TEXT)
    text = inserted(TEXT, "float shared_by_all(int i) {", " i++;")
    found = editor.touch(text)
    assert found is not None and not found.part.analysis.kernels
    assert shown(editor, found.part, found.rest) == afresh(text)


def test_an_edit_in_a_helper_renews_all_that_call_it():
    editor = Editor(TEXT)
    found = editor.touch(inserted(TEXT, "float helper5(__global const float *a, int i) {", "\n    i *= 16;"))
    assert found is not None
    assert [it.name for it in found.part.analysis.kernels] == ["k5"]


def test_a_part_is_read_of_few_functions():
    editor = Editor(TEXT)
    found = editor.touch(inserted(TEXT, "b, int n) {\n", "    i = 1;\n"))
    assert found is not None
    assert {name for name, it in found.part.program.functions.items() if it.body is not None} == {
        *("k0", "helper0", "shared_by_all")
    }
    assert len(found.rest.analysis.kernels) == 13


GUESSED = TEXT.replace(
    "    __local float tile", "    T4 v = (T4)(LANES);\n    b[n] = v.x;\n    __local float tile"
)
"""Nothing defines what stands in every kernel."""


@pytest.mark.parametrize(
    "what",
    [
        "\n    b[i * 32] = 1.0f;",
        "\n    b[i] = other_name;",
        "\n    b[i] = ;",
        "\n    T4 w = (T4)(LANES, 1, 2, 3);",
    ],
)
def test_bodies_with_names_that_nothing_defines_are_left_out_where_the_edit_names_none(what):
    editor = Editor(GUESSED)
    text = inserted(GUESSED, "[63 - get_local_id(0)];", what)
    found = editor.touch(text)
    if "T4" in what:
        assert found is not None
        assert not found.part.analysis.kernels  # What it is taken for follows from this use, too.
        return
    assert found is not None
    assert sum(it.body is not None for it in found.part.program.functions.values()) == 3
    names = {it.name: it.value for it in found.part.program.guesses}
    assert names["T4"] == "float4" and names["LANES"] == "4"
    assert shown(editor, found.part, found.rest) == afresh(text)


def test_what_all_uses_say_of_a_name_holds_in_a_part():
    """Only the first kernel shows that it is a vector of two."""
    text = TEXT.replace("    __local float tile", "    PAIR_T v;\n    __local float tile")
    text = inserted(text, "b, int n) {\n", "    PAIR_T w = (PAIR_T)(1, 2);\n")
    editor = Editor(text)
    at = text.index("    for (int j", text.index("void k7("))
    found = editor.touch(text[:at] + "    b[i] = 3;\n" + text[at:])
    assert found is not None
    whole = {it.name: (it.role, it.value) for it in editor.whole.program.guesses}
    assert whole["PAIR_T"][1] == "float2"
    assert {it.name: (it.role, it.value) for it in found.part.program.guesses} == whole


@pytest.mark.parametrize(
    ("behind", "what"),
    [
        ("__kernel void k3(__global float *a,", " int m,"),
        ("b, int n) {\n", "    /* "),
        ("b, int n) {\n", "    }\n"),
        ("b, int n) {\n", "    {\n"),
        ("b, int n) {\n", "#define TWICE(x) x\n"),
        ("b, int n) {\n", "    i = TWICE(1;\n"),
        ("b, int n) {\n", "    // clmap: ignore[CM102]\n"),
        ("__constant float table[4] = {1, 2,", " 7,"),
    ],
)
def test_what_may_say_more_than_its_function_is_read_whole(behind, what):
    editor = Editor(TEXT)
    assert editor.touch(inserted(TEXT, behind, what)) is None


def test_small_files_are_read_whole():
    text = TEXT[:6000]
    assert Editor(text).touch(inserted(text, "b, int n) {\n", "i = 1;")) is None


def test_random_edits_show_what_whole_readings_show():
    """Edits of one function at a time, each compared with an engine that has never seen the text before."""
    rng = random.Random(3)
    pieces = ["a", "[i]", ";", "\n", " + n", "i", "(", ")", "= 3", "b[i * 7] = 1;", "1", "tile[n]", "//", '"']
    n_parts = 0
    n_functions = drawn(6, 12)
    for number in range(n_functions):
        editor, text = Editor(TEXT), TEXT
        body = list(re.finditer(r"__kernel void k\d+\([^)]*\) \{\n", TEXT))[number]
        at = body.end() + rng.randrange(200)
        for _ in range(5):
            piece = rng.choice(pieces)
            text = text[:at] + piece + text[at:]
            at += len(piece)
            found = editor.touch(text)
            if found is not None:
                n_parts += 1
                here, whole = shown(editor, found.part, found.rest), afresh(text)
                errors = [it for it in whole if it[5] == 1]
                if errors:  # How a torn function is read depends on what is around it: whole, it hides more.
                    assert next(it for it in here if it[5] == 1)[:2] == errors[0][:2]
                elif not any(it[4] == "CM003" for it in whole):  # They follow from all of their uses.
                    assert here == whole, repr(text[body.start() :][:300])
    assert n_parts > 2 * n_functions


@pytest.mark.parametrize("leaves_parts", [True, False])
@pytest.mark.parametrize("what", ["int x = ", "b[i", "float "])
def test_a_whole_that_was_read_in_mid_word_does_not_end_the_reading_of_parts(what, leaves_parts, monkeypatch):
    """What is half typed may change what all functions mean: none of them could be left out."""
    layout_of = Layout.of

    def of(index, guesses):
        is_torn = f"{what}    for (int j" in index.text
        return None if is_torn and not leaves_parts else layout_of(index, guesses)

    monkeypatch.setattr(Layout, "of", of)

    async def type_on() -> tuple[list[int], int]:
        server = create_server()
        protocol = server.protocol
        protocol.set_writer(type("Nowhere", (), {"write": lambda *_: None, "close": lambda *_: None})())

        def send(method, params, **more):
            protocol.receive(
                json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}).encode()
            )

        def insert(version, text):
            place = {"line": line, "character": len(what) if version > 2 else 0}
            edit = {"range": {"start": place, "end": place}, "text": text}
            document = {"uri": URI, "version": version}
            send("textDocument/didChange", {"textDocument": document, "contentChanges": [edit]})

        async def until(condition):
            async with asyncio.timeout(120):
                while not condition():
                    await asyncio.sleep(0.01)

        analyses, touched = server.analyses, []
        line = TEXT[: TEXT.index("    for (int j")].count("\n")
        send(
            "initialize",
            {
                "capabilities": {},
                "processId": None,
                "initializationOptions": {"settings": {"emulate": "off"}},
            },
            id=1,
        )
        await asyncio.sleep(0)
        send(
            "textDocument/didOpen",
            {"textDocument": {"uri": URI, "languageId": "opencl", "version": 1, "text": TEXT}},
        )
        await until(lambda: (it := analyses.latest(URI)) is not None and it.is_judged)
        wholes = []
        server.on_snapshot.append(lambda it: wholes.append(it.document.version))

        def on_touched(found):
            touched.append(found.document.version)
            if touched[-1] == 2:  # The whole is due, and another key comes while it is read.
                analyses._read_at[URI] = 0.0
                insert(3, "q")

        server.on_touched.append(on_touched)
        insert(2, what)
        await until(lambda: wholes and 3 in touched)  # Where reading is fast, the whole may come first.
        assert analyses.latest(URI).document.version == wholes[-1]
        send("shutdown", None, id=9)
        return touched, wholes[0]

    touched, first_whole = asyncio.run(type_on())
    assert touched[0] == 2
    # The one of version 2 is not taken where it leaves no parts; that of the pause is.
    assert first_whole == (2 if leaves_parts else 3)
