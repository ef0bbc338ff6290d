"""Kernels inside host programs are found, with their places in the host file."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clmap_lsp.commands.checking import CheckJob, check_file
from clmap_lsp.config import Settings
from clmap_lsp.findings import Severity
from clmap_lsp.rules import Selection
from clmap_lsp.source import embedded
from clmap_lsp.source.embedded import find_embedded, kernels_of_host
from clmap_lsp.source.ir import Severity as IrSeverity
from clmap_lsp.source.read import read_program
from clmap_lsp.source.span import Span

KERNEL = "__kernel void f(__global float *a) {\n  a[get_global_id(0)] = 1.0f;\n}\n"


def only(host, language):
    (found,) = find_embedded(host, language)
    return found


@pytest.mark.parametrize("delimiter", ["", "CLC", "cl_src"])
def test_raw_string(delimiter):
    host = f'#include <CL/cl.h>\nconst char *src = R"{delimiter}({KERNEL}){delimiter}";\nint main() {{}}\n'
    found = only(host, "cpp")
    assert found.text == KERNEL
    assert host[found.start : found.end] == KERNEL
    assert found.host_offset(KERNEL.index("get_global_id")) == host.index("get_global_id")


def test_adjacent_literals_with_comments_and_line_ends():
    host = (
        'static const char *src =\n  "__kernel void f(__global int *a)\\n" /* head */\n'
        '  "{\\n" // body\n  "  a[0] = \\"x\\"[0];\\n"\n  "}\\n";\n'
    )
    found = only(host, "c")
    assert found.text == '__kernel void f(__global int *a)\n{\n  a[0] = "x"[0];\n}\n'
    assert found.host_offset(found.text.index("a[0]")) == host.index("a[0]")
    assert found.host_offset(found.text.index('"x"')) == host.index('\\"x')


def test_strings_of_other_statements_are_not_joined():
    host = 'f("__kernel void a() {");\ng("int x; }");\n'
    assert [it.text for it in find_embedded(host, "c")] == ["__kernel void a() {"]


def test_literals_without_kernels_and_comments_are_passed_over():
    host = 'char c = \'"\'; // "__kernel void f(int x) {}"\nputs("the kernel of truth");\n'
    assert find_embedded(host, "cpp") == []


@pytest.mark.parametrize("quote", ['"""', "'''"])
def test_python_triple_quotes(quote):
    head = "import pyopencl as cl\n# it's a comment\n"
    host = f"{head}prg = cl.Program(ctx, {quote}\n{KERNEL}{quote}).build()\n"
    found = only(host, "python")
    assert found.text == "\n" + KERNEL
    assert host[found.start : found.end] == found.text


@pytest.mark.parametrize(
    "host",
    [
        'src = ("__kernel void f(__global int *a) {"\n       " a[0] = 1; }")\n',
        'src = "__kernel void f(__global int *a) {" \\\n    " a[0] = 1; }"\n',
        'src = "__kernel void f(__global int *a) {" + \\\n    " a[0] = 1; }"\n',
        'src = ("__kernel void f(__global int *a) {"  # The head.\n       r" a[0]" " = 1; }")\n',
    ],
)
def test_literals_that_python_puts_together_are_one_text(host):
    found = only(host, "python")
    assert found.text == "__kernel void f(__global int *a) { a[0] = 1; }"
    assert host[found.host_offset(found.text.index("1;"))] == "1"


def test_literals_of_other_lines_and_lists_are_not_put_together():
    host = 'a = "kernel void f(global int *a) {"\n"}"\nb = ["kernel void g() {", "}"]\n'
    assert [it.text for it in find_embedded(host, "python")] == [
        "kernel void f(global int *a) {",
        "kernel void g() {",
    ]


@pytest.mark.parametrize(
    ("host", "language"),
    [
        ('s = "kernel void f() {"\ns += " return; "\ns += "}"\n', "python"),
        ('std::string s = "kernel void f() {";\ns += " return; ";\ns += "}";\n', "cpp"),
        ('auto s = std::string("kernel void f() {") + " return; " + std::string("}");\n', "cpp"),
        ('const char *s = R"(kernel void f() {)" // One.\n  R"( return; )"\n  "}";\n', "cpp"),
    ],
)
def test_literals_that_a_program_puts_together_are_one_text(host, language):
    found = only(host, language)
    assert found.text == "kernel void f() { return; }"
    assert host[found.host_offset(found.text.index("return")) :].startswith("return;")


def test_what_is_added_to_something_else_is_not_put_together():
    host = 's = "kernel void f() {"\nt += "}"\n'
    assert only(host, "python").text == "kernel void f() {"


def test_the_head_of_a_kernel_that_goes_on_elsewhere_is_none():
    host = 'source.append("__kernel void scan(__global "); source.append(type);\n'
    assert find_embedded(host, "cpp") == []
    typed = "__kernel void half(__global float *a,\n    int "
    assert only(f's = R"({typed})";\n', "cpp").text == typed


def test_a_message_that_speaks_of_a_kernel_is_none():
    assert find_embedded('print("Nothing came of kernel scale(...)")\n', "python") == []
    assert find_embedded('puts("no kernel named scale (see above)");\n', "c") == []


def test_python_escapes_map_back():
    host = 'src = """#define A \\\\\n  1\n__kernel void f(__global int *a) { a[0] = A; }"""\n'
    found = only(host, "python")
    assert found.text.startswith("#define A \\\n  1\n")
    assert found.host_offset(found.text.index("a[0]")) == host.index("a[0]")


def test_spans_move_to_the_host_file():
    host = f'auto s = R"({KERNEL})";'
    found = only(host, "cpp")
    at = KERNEL.index("a[get")
    span = found.host_span(Span("k.cl", at, at + 1, Span("k.cl", 0, 8)), "host.cpp")
    assert (span.path, host[span.start : span.end]) == ("host.cpp", "a")
    assert host[span.definition.start : span.definition.end] == "__kernel"


@given(st.text(alphabet="\"'\\R(){};/*#\n kernel", max_size=200), st.sampled_from(["c", "cpp", "python"]))
def test_any_text_is_taken(text, language):
    for found in find_embedded(text, language):
        assert 0 <= found.start <= found.end <= len(text)


@given(st.lists(st.sampled_from(["x = 1;", "\\n", "\\t", "\\\\", '\\"', "\\x41", "\\101", " "]), max_size=12))
def test_every_plain_character_maps_to_itself(parts):
    host = 'k("__kernel void f(int a) { ' + "".join(parts) + '}");'
    found = only(host, "c")
    for offset, char in enumerate(found.text):
        if char not in '\n\t\\"A':
            assert host[found.host_offset(offset)] == char


def test_a_header_of_the_host_gives_what_its_macros_make_strings_of_and_nothing_else() -> None:
    text = (
        "#include <boost/compute/utility/source.hpp>\n"
        "namespace a {\n"
        "  const char source[] = BOOST_COMPUTE_STRINGIZE_SOURCE(\n"
        "    __kernel void twice(__global float *a) { a[get_global_id(0)] *= 2; }\n"
        "  );\n"
        '  template<class T> void run(std::vector<T> const& v) { set("twice"); }\n'
        "}\n"
    )
    kernels, count = kernels_of_host(text, "twice.hpp")
    assert count == 1
    assert kernels.split() == text.splitlines()[3].split()
    assert [it.count("\n") for it in (kernels, text)] == [7, 7]
    program = read_program(text, "twice.hpp")
    assert [it.name for it in program.kernels] == ["twice"]
    assert program.problems == ()


def test_formatted_strings_of_python_have_names_for_what_is_filled_in_and_docstrings_are_no_programs() -> (
    None
):
    text = (
        '"""A module\nwhose kernel (see below) is prose."""\n'
        "N = 64\n"
        "def build(context):\n"
        '    """Make the kernel\n    (and no more)."""\n'
        '    source = f"""\n'
        "    inline int at(int a, int b) {{ return a*{N} + b; }}\n"
        "    __kernel void k(__global int *a) {{ a[at(get_global_id(0), {N * 2:d})] = 1; }}\n"
        '    """\n'
    )
    kernels, count = kernels_of_host(text, "build.py")
    assert count == 1
    assert "prose" not in kernels and "no more" not in kernels
    program = read_program(text, "build.py")
    assert [it.name for it in program.kernels] == ["k"]
    assert [(it.name, it.role) for it in program.guesses] == [("N", "constant"), ("N___2", "constant")]
    report = check_file(CheckJob("build.py", Settings(), Selection.of(), text=text))
    assert not [it for it in report.findings if it.severity is Severity.ERROR]
    place = kernels.index("get_global_id")
    assert text[place:].startswith("get_global_id")


@pytest.mark.parametrize(
    ("language", "before", "after"),
    [("build.py", 'K = """', '"""\n\ndef build(n):\n    return K.format(n=n)\n'), ("b.cpp", 'R"(', ')";\n')],
)
def test_strings_whose_braces_are_doubled_are_formatted_wherever_that_happens(
    language: str, before: str, after: str
) -> None:
    body = "__kernel void k(__global int *a, int m)\n{{\n"
    body += "    if (m > {n}) {{ a[get_global_id(0)*m] = {0:d}; }}\n}}\n"
    text = f"{'s = ' if language == 'b.cpp' else ''}{before}{body}{after}"
    program = read_program(text, language)
    assert [it.name for it in program.kernels] == ["k"]
    assert not [it for it in program.problems if it.severity is IrSeverity.ERROR]
    assert [it.name for it in program.guesses] == ["n", "_0"]
    kernels, _ = kernels_of_host(text, language)
    assert kernels.index("get_global_id") == text.index("get_global_id")


def test_a_brace_that_stands_alone_makes_a_string_none_to_be_formatted() -> None:
    body = (
        "__kernel void k(__global int *a)\n{\n    int t[2][2] = {{1, 2}, {3, 4}};\n    a[0] = t[1][1];\n}\n"
    )
    assert [it.text for it in find_embedded(f'K = """{body}"""\n', "python")] == [body]


def test_lines_of_template_text_are_statements() -> None:
    kernel = "__kernel void k(__global int *a) {\n    int s = 0;\n\n@@UNROLLED LOOP@@\n\n"
    kernel += "    a[0] = s + @@LAST@@;\n}\n"
    report = check_file(CheckJob("k.cl", Settings(), Selection.of(), text=kernel, hints=True))
    assert not [it for it in report.findings if it.severity is Severity.ERROR]
    assert any("template text" in it.message for it in report.findings)


@pytest.mark.parametrize("mark", ["<re:TILE>", "@TILE@", "@@TILE@@"])
def test_what_a_host_replaces_in_other_ways_is_template_text(mark: str) -> None:
    kernel = "__kernel void k(__global int *a) { int t[N] = {}; a[get_global_id(0)] = t[0]; }"
    text = f"#define N {mark}\n{kernel}\n"
    report = check_file(CheckJob("k.cl", Settings(), Selection.of(), text=text, hints=True))
    assert not [it for it in report.findings if it.severity is Severity.ERROR]
    assert any("template text" in it.message for it in report.findings)


def test_operators_beside_names_are_no_template_text() -> None:
    text = "__kernel void k(__global int *a) { int i = get_global_id(0); a[i] = a[i]<a[1]?a[2]:a[3]>a[4]; }\n"
    assert read_program(text, "k.cl").problems == ()


@pytest.mark.parametrize("before", ["# " * 149 + "\nx", "\\" * 299 + "x", "# #\t" * 70 + "\nx"])
def test_what_stands_before_a_string_is_looked_at_once(before: str) -> None:
    assert kernels_of_host(f"import pyopencl\n{before} '''{KERNEL}'''\n", "h.py")[1] == 0
    assert kernels_of_host(f"import pyopencl\n{before} = '''{KERNEL}'''\n", "h.py")[1] == 1


@pytest.mark.parametrize(
    ("before", "count"),
    [
        ("src = # the text\n  # of it\n ", 1),
        ("src = \\\n", 1),
        ("def f():\n  # it\n ", 0),
        ("d = {1: ", 1),
        ("f(a, # b\n", 1),
    ],
)
def test_comments_and_ends_of_lines_before_a_string_say_nothing(before: str, count: int) -> None:
    assert kernels_of_host(f"import pyopencl\n{before}'''{KERNEL}'''\n", "h.py")[1] == count


@pytest.mark.parametrize("path", ["kernels.cpp", "kernels.c", "kernels.cl", "kernels.py"])
def test_host_is_looked_through_once(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []

    def counted(name: str) -> None:
        look = getattr(embedded, name)

        def looks(text: str, *rest: Any) -> Any:
            looked.append(name)
            return look(text, *rest)

        monkeypatch.setattr(embedded, name, looks)

    for name in ("_c", "_python", "_chained", "_stringified"):
        counted(name)
    host = 'const char *source = "__kernel void k(__global int *a) { a[0] = 1; }";\n'
    text, count = kernels_of_host(host.removeprefix("const char *") if path.endswith(".py") else host, path)
    assert count == 1
    assert "__kernel void k" in text
    assert sorted(looked) == sorted(set(looked))


def test_a_kernel_file_that_is_a_string_to_be_included_holds_what_the_string_says() -> None:
    head = "// Included by the host.\n/* As one string. */\n"
    inside = '"__kernel void k(__global int *a)\\n"\n"{ a[get_global_id(0)] = 1; }\\n"\n'
    text, count = kernels_of_host(head + inside, "k.cl")
    assert count == 1
    assert len(text) == len(head + inside)
    assert "__kernel void k" in text and '"' not in text
    assert kernels_of_host('#define NAME "k"\n' + KERNEL, "k.cl") == ('#define NAME "k"\n' + KERNEL, 0)
