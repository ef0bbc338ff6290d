"""No regular expression takes time that grows with the square of a text."""

from __future__ import annotations

import ast
import importlib
import re
import re._parser as parser  # type: ignore[import-not-found]
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import FrameType

import pytest

import clmap_lsp
from clmap_lsp.lazy import LazyPattern

SHORT, LONG = 1 << 11, 1 << 14
SEEDS = (
    "/*", "//", "/* ", '"', "'", '\\"', "\\", "\\\n", "(", ")", "()", "((", "[", "{", "}", " ", "\n", "\t ",
    "a", "a ", "a(", "0", "0x", "1e", "1.", ".", ",", "a,", "=", "==", "<", "#", "# ", "#pragma ", "kernel ",
    "__kernel ", 'R"(', 'R"a(', ")\"", "__attribute__ ", "__attribute__((", "// clmap:", "clmap: a=", "a=(",
    "-", "+1", ":", "%", "%d", "%5", "é", "*/", "*", "a*", "/", "/*a*/ ", "get_global_id(", "\r", "\r\n", ";",
    "a;", "<b", "&", "`", "|", "!", "~", "-D ", "-I", "@p ", "u8R", "L'", "if ", "else ", "for(", "a[", "a[0",
)  # fmt: skip
BOUNDED = {
    "clmap_lsp.compiled.": "what LLVM and ptxas have printed",
    "clmap_lsp.index.builtins._TABLE_WORD": "the package's own table of built-in functions",
    "clmap_lsp.index.builtins._SIGNATURE": "the same",
    "clmap_lsp.launch.arguments._SUFFIXED": "one number of an argument",
    "clmap_lsp.source.normalise._HALF": "one token",
    "clmap_lsp.report.html_svg:": "the pictures that Matplotlib has made",
    "clmap_lsp.index.signatures:": "400 characters before the cursor",
    "clmap_lsp.fixes.": "a kernel without long runs of blanks and letters, see `fixes.scope`",
}
"""Patterns whose texts are bounded, by how their names begin."""
SUSPECT_S, LIMIT_S = 0.003, 0.2
"""CPU seconds for a short text, from which on a long one is tried, and for that: the square of its length
would take a second, its length a few milliseconds."""
GROWTH = 24
"""For eight times the text; the square is 64. A slow machine may take long for what is linear, too."""
SCANNING = {"search", "finditer", "findall", "sub", "subn", "split"}
AT_ONE_PLACE = {"match", "fullmatch"}


def modules() -> list[str]:
    """Return the modules that have patterns, loading none: every process collects tests."""
    package = Path(clmap_lsp.__file__).parent
    found = []
    for path in sorted(package.rglob("*.py")):
        name = ".".join(path.relative_to(package.parent).with_suffix("").parts).removesuffix(".__init__")
        if name.endswith(("__main__", "_child", ".child")):
            continue
        if re.search(r"\bre\b|\blazy_pattern\(", path.read_text(encoding="utf-8")):
            found.append(name)
    return found


def methods(tree: ast.AST) -> dict[str, set[str]]:
    """Return what is called of each name of a module."""
    found: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found.setdefault(node.value.id, set()).add(node.attr)
    return found


def imported(tree: ast.AST) -> set[str]:
    """Return the names that a module has from others, whose own turn it is to be looked at."""
    froms = (it for it in ast.walk(tree) if isinstance(it, ast.ImportFrom))
    return {it.asname or it.name for node in froms for it in node.names}


def patterns(name: str) -> Iterator[tuple[str, re.Pattern[str], tuple[str, ...]]]:
    """Yield the patterns of a module with how each is applied: at one place, or all over a text."""
    try:
        module = importlib.import_module(name)
    except ImportError:
        return  # Needs what is not installed here.
    assert module.__file__ is not None
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    called, others = methods(tree), imported(tree)
    for variable, it in vars(module).items():
        value = it.compiled() if isinstance(it, LazyPattern) else it
        if isinstance(value, re.Pattern) and isinstance(value.pattern, str) and variable not in others:
            own = called.get(variable, set())
            scans = own & SCANNING or not own & AT_ONE_PLACE or not variable.startswith("_")
            yield f"{name}.{variable}", value, (*(("finditer",) if scans else ()), *own & AT_ONE_PLACE)
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="re"), attr=method),
                args=[ast.Constant(value=str()) | ast.JoinedStr() as given, *_],
            ) if method != "compile":
                how = method if method in AT_ONE_PLACE else "finditer"
                yield f"{name}:{node.lineno}", re.compile(written(given, vars(module))), (how,)


def written(given: ast.Constant | ast.JoinedStr, known: Mapping[str, object]) -> str:
    """Return a pattern as text; what is put into it is a name, where it is no text of the module's own."""
    if isinstance(given, ast.Constant):
        return str(given.value)
    parts = []
    for it in given.values:
        inner = it.value if isinstance(it, ast.FormattedValue) else it
        value = inner.value if isinstance(inner, ast.Constant) else known.get(getattr(inner, "id", ""), "a1")
        parts.append(value if isinstance(value, str) else "a1")
    return "".join(parts)


def literals(pattern: re.Pattern[str]) -> list[str]:
    """Return the runs of characters that a pattern asks for."""
    found: dict[str, None] = {}

    def walk(items: object) -> None:
        run = ""
        for op, argument in items:  # type: ignore[attr-defined]
            if op is parser.LITERAL:
                run += chr(argument)
                continue
            found.setdefault(run)
            run = ""
            inside = [argument]
            while inside:
                it = inside.pop()
                if isinstance(it, parser.SubPattern):
                    walk(it)
                elif isinstance(it, (tuple, list)):
                    inside.extend(it)
        found.setdefault(run)

    walk(parser.parse(pattern.pattern, pattern.flags))
    return [it for it in found if it]


def texts(pattern: re.Pattern[str]) -> Iterator[tuple[str, str, str]]:
    """Yield texts that a pattern may take long for, as their beginning, what is repeated, and their end."""
    own = literals(pattern)
    ends = [it + end for it in own for end in (" ", "a", "a ", "(")]
    pairs = [one + two for one in own[:6] for two in own[:6]]
    for seed in dict.fromkeys((*SEEDS, *own, *ends, *pairs)):
        yield "x", seed, "\0"
        if seed in ("a", " ", "0", "\n", '\\"'):
            yield from ((it, seed, "\0") for it in own[:12])
        if "\\" in seed or seed in ('"', "'"):
            yield '"', seed, "\\"


def taken(pattern: re.Pattern[str], method: str, text: str) -> float:
    """Return the CPU seconds that a pattern takes, or what it took when it was stopped."""
    started = time.process_time()
    signal.setitimer(signal.ITIMER_VIRTUAL, 1.0)
    try:
        if method == "finditer":
            for _ in pattern.finditer(text):
                pass
        else:
            getattr(pattern, method)(text)
    except StoppedError:
        pass
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return time.process_time() - started


class StoppedError(Exception):
    pass


@pytest.mark.skipif(sys.platform == "win32", reason="interval timers")
@pytest.mark.parametrize("module", modules())
def test_patterns_are_linear_in_any_text(module: str):
    for name, pattern, how in patterns(module):
        if not name.startswith(tuple(BOUNDED)):
            assert_linear(name, pattern, how)


def assert_linear(name: str, pattern: re.Pattern[str], how: tuple[str, ...]) -> None:
    def stop(number: int, frame: FrameType | None) -> None:
        raise StoppedError

    before = signal.signal(signal.SIGVTALRM, stop)
    try:
        for start, seed, end in texts(pattern):
            for method in how:
                short = taken(pattern, method, start + seed * (SHORT // len(seed)) + end)
                if short < SUSPECT_S:
                    continue
                used = taken(pattern, method, start + seed * (LONG // len(seed)) + end)
                assert used < max(LIMIT_S, GROWTH * short), (
                    f"{name}: {method} on {start!r}, many {seed!r}, {end!r}: {used:.1f} s"
                )
    finally:
        signal.signal(signal.SIGVTALRM, before)


def masked(text: str) -> object:
    from clmap_lsp.hosts.macros import compile_lines

    return compile_lines(text, lambda _: {}, {})


def written_in_python(text: str) -> object:
    from clmap_lsp.source.embedded import find_embedded

    return find_embedded(text, "python")


def written_in_cpp(text: str) -> object:
    from clmap_lsp.source.embedded import find_embedded

    return find_embedded(text, "cpp")


def wrapped(text: str) -> object:
    from clmap_lsp.source.wrapped import n_strings, without_wrapping

    return n_strings(text), without_wrapping(text)


def template(text: str) -> object:
    from clmap_lsp.source.templates import filled

    return filled(text, "k.cl")


def parts(text: str) -> object:
    from clmap_lsp.commands.files import _COMMENTS, _FILE_NAMES

    return _COMMENTS.sub(" ", text), _FILE_NAMES.findall(text)


def flags(text: str) -> object:
    from clmap_lsp.hosts.structure_calls import _FLAGS

    return _FLAGS.fullmatch(text)


def read_in_c(text: str) -> object:
    from clmap_lsp.hosts.c_reader import read_c

    return read_c(text, "main.cpp")


def read_in_python(text: str) -> object:
    from clmap_lsp.hosts.python_reader import read_python

    return read_python(text, "main.py")


def named_in_c(text: str) -> object:
    from clmap_lsp.hosts.naming import namings

    return list(namings("k", "#include <CL/cl.h>\n" + text, "main.cpp"))


def named_in_python(text: str) -> object:
    from clmap_lsp.hosts.naming import namings

    return list(namings("k", "import pyopencl as cl\n" + text, "main.py"))


def numbered(text: str) -> str:
    """Return a text with another number for each `@`."""
    pieces = text.split("@")
    return "".join(f"{it}{number}" for number, it in enumerate(pieces))


@pytest.mark.parametrize(
    ("work", "seed", "after"),
    [
        (masked, 'R"@(', "\n"),
        (masked, '\\"', "\n"),
        (written_in_cpp, 'R"@(', "\n"),
        (written_in_cpp, '\\"', "\\"),
        (written_in_python, '\\"""', "\n"),
        (written_in_python, "'\\\"", "\\"),
        (written_in_python, 'f"{aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', "\n"),
        (wrapped, 'R"@(\n', 'kernel)"\n'),
        (wrapped, "STRINGIFY(\nkernel ", "\n"),
        (wrapped, "STRINGIFY(\nkernel )\n", "\n"),
        (wrapped, "STR", "x (\n"),
        (wrapped, 'char *a = "\n', "\n"),
        (wrapped, "char a ", '\n= "\n'),
        (template, "{%", "\n"),
        (template, "{# {% <% ", "#}"),
        (template, "{{a}}", "\n"),
        (template, "{{a     ", "\n"),
        (template, "${a     ", "\n"),
        (parts, "/* ", "\n"),
        (parts, "00000000", "\n"),
        (flags, "CL_MEM_", "!"),
        (read_in_c, "/* ", "\n"),
        (read_in_c, "%IF(", "\n"),
        (read_in_python, "\\\n", "x"),
        (read_in_python, "class A:\n", "x"),
        (read_in_python, "if x:\n", "x"),
        (named_in_c, "kernel", ' x = "k";'),
        (named_in_c, 'x@ = "k"; ', "\n"),
        (named_in_c, "M@(k)\n", "\n"),
        (named_in_c, "f<", '>("k");'),
        (named_in_python, "\n", "a.k(b, c, d)"),
        (named_in_python, "z = ", "1\nz.k(b, c, d)"),
        (named_in_python, "a@.k(b, c, d)\n", "x"),
        (named_in_python, '"k" + ', '"k"'),
        (named_in_python, "a.k", "(b, c, d)"),
    ],
)
def test_what_looks_through_a_text_is_linear(work: Callable[[str], object], seed: str, after: str):
    used = []
    for length in (1 << 15, 1 << 17):
        text = numbered(seed * (length // len(seed))) + after
        started = time.process_time()
        work(text)
        used.append(time.process_time() - started)
    assert used[1] < 0.2 + 8 * used[0], f"{used[0]:.2f} s, and {used[1]:.2f} s for four times the text"
