"""No regular expression takes time that grows with the square of a text."""

from __future__ import annotations

import importlib
import pkgutil
import re
import time

import pytest

import clmap_lsp

LENGTH = 1 << 16
SEEDS = (
    "/*", "//", "/* ", '"', "'", '\\"', "\\", "\\\n", "(", ")", "()", "((", "[", "{", "}", " ", "\n", "\t ",
    "a", "a ", "a(", "0", "0x", "1e", "1.", ".", ",", "a,", "=", "==", "<", "#", "# ", "#pragma ", "kernel ",
    "__kernel ", 'R"(', 'R"a(', ")\"", "__attribute__ ", "__attribute__((", "// clmap:", "clmap: a=", "a=(",
    "-", "+1", ":", "%", "%d", "%5", "é", "*/", "*", "a*", "/", "/*a*/ ", "get_global_id(", "\r", "\r\n", ";",
    "a;", "<b", "&", "`", "|", "!", "~", "-D ", "-I", "@p ", "u8R", "L'", "if ", "else ", "for(", "a[", "a[0",
)  # fmt: skip
ROOMS = tuple(
    f"clmap_lsp.{it}"
    for it in (
        "source", "launch", "rules", "worker", "server", "report", "config", "sources",
        "fixes.outline", "fixes.kinds.swap_dimensions",
    )
)  # fmt: skip
"""What applies patterns to whole texts. Other rooms match single statements, or what LLVM has printed."""
MATCHED = {
    "clmap_lsp.launch.arguments._CALL": "one argument",
    "clmap_lsp.launch.arguments._SUFFIXED": "one number",
    "clmap_lsp.launch.comment._WORD": "one place of a comment",
    "clmap_lsp.server.configuring._INCLUDE": "one line",
    "clmap_lsp.source.branches._INTEGER": "one token",
    "clmap_lsp.source.conditions._NUMBER": "one token",
    "clmap_lsp.source.literals._NUMBER": "one token",
    "clmap_lsp.source.normalise._HALF": "one token",
    "clmap_lsp.source.embedded._PYTHON_TOKEN": "strings of bounded length",
    "clmap_lsp.source.wrapped._RAW_STRING": "texts with at most a thousand raw strings",
}
"""Patterns that are matched at one place, or whose texts are bounded otherwise."""
LIMIT_S = 2.5
"""Of CPU time, for a pattern on one text; with the square of its length it would be minutes."""


def patterns() -> list[tuple[str, re.Pattern[str]]]:
    found = []
    for info in pkgutil.walk_packages(clmap_lsp.__path__, "clmap_lsp."):
        if not info.name.startswith(ROOMS) or info.name.endswith(("__main__", "_child", ".child")):
            continue
        try:
            module = importlib.import_module(info.name)
        except ImportError:
            continue  # Needs what is not installed here.
        for name, value in vars(module).items():
            if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
                if f"{info.name}.{name}" in MATCHED:
                    continue
                found.append((f"{info.name}.{name}", value))
    return found


PATTERNS = patterns()


@pytest.mark.parametrize(("name", "pattern"), PATTERNS, ids=[it[0] for it in PATTERNS])
def test_a_pattern_is_linear_in_any_text(name: str, pattern: re.Pattern[str]):
    for seed in SEEDS:
        text = "x" + seed * (LENGTH // len(seed)) + "\0"
        started = time.process_time()
        for _ in pattern.finditer(text):
            if time.process_time() - started > LIMIT_S:
                break
        taken = time.process_time() - started
        assert taken < LIMIT_S, f"{name} on {seed!r}: {taken:.1f} s for {LENGTH} characters"
