"""What a file in a workspace can make the tool do: its configuration names no program to run."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

import clmap_lsp
from clmap_lsp.config.document import json_schema
from clmap_lsp.config.load import ConfigError, parse

PACKAGE = Path(clmap_lsp.__file__).parent
WORDS = ("command", "exec", "program", "shell", "script", "hook", "plugin", "compiler", "preload")
MAY_START_PROCESSES = {
    "worker/pool.py": "our own worker module, by this Python",
    "compiled/backend.py": "our own module with LLVM's back ends, by this Python",
    "compiled/ptxas.py": "NVIDIA's assembler out of an installed package, on code that LLVM made",
    "commands/changed.py": "git, where a person asks for the lines changed since a commit",
    "commands/record.py": "the program that a person names on the command line",
    "recording/build.py": "the compiler of this machine, on our own C file",
    "server/features/formatting.py": "clang-format, when a person formats, on standard input",
    "opencl_device/on_device.py": "measuring on a device, by command only, in a process of its own",
}


def keys_of(schema: object) -> set[str]:
    """Return every property name in a JSON schema."""
    found: set[str] = set()
    if isinstance(schema, dict):
        properties = schema.get("properties")
        if isinstance(properties, dict):
            found |= set(properties)
        for value in schema.values():
            found |= keys_of(value)
    elif isinstance(schema, list):
        for value in schema:
            found |= keys_of(value)
    return found


def test_no_key_of_the_configuration_names_a_program():
    keys = keys_of(json.loads(json.dumps(json_schema())))
    assert {"device", "build", "launch", "exclude"} <= keys  # The schema is the one that is meant.
    assert not [key for key in keys for word in WORDS if word in key.lower()]


def test_processes_are_started_in_few_places_and_never_through_a_shell():
    starters = set()
    for path in sorted(PACKAGE.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(source)):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func)
            if called == "exec":  # As the standard library's: of field names, that are identifiers of ours.
                assert path == PACKAGE / "dataclass.py", path
                continue
            assert called not in {"os.system", "os.popen", "eval", "pickle.loads"}, path
            assert not any(it.arg == "shell" for it in node.keywords), path
            if called.split(".")[0] == "subprocess" or "create_subprocess" in called:
                starters.add(str(path.relative_to(PACKAGE)))
    known = {it for it in starters if it.startswith(tuple(MAY_START_PROCESSES))}
    assert starters == known


@pytest.mark.parametrize(
    "text",
    [
        "a." * 25_000 + "b = 1",
        "a" + ".b" * 100 + " = 1",
        "[" + "a." * 70 + "b]\nx = 1",
        "x = {" + '"a" . ' * 80 + "b = 1}",
        "'a'." * 20_000 + "b = 1\n" * 2,
    ],
    ids=["dots", "a key", "a table", "quoted", "many"],
)
def test_keys_of_thousands_of_parts_are_refused_with_their_place(text: str):
    with pytest.raises(ConfigError, match="too many parts") as error:
        parse("clmap.toml", text)
    assert error.value.faults[0].span.end > error.value.faults[0].span.start


def test_dots_in_texts_are_no_keys():
    names = ", ".join(f'"a{it}.b.c/*.cl"' for it in range(100))
    assert parse("clmap.toml", f"exclude = [{names}]").excludes("a7.b.c/k.cl")


@pytest.mark.parametrize(
    "text",
    [f"[build]\ndefines = {{N = 0x{'f' * 5_000}}}", f"[launch.k.args]\nn = [[1, {{x = 0b{'1' * 99}}}]]"],
    ids=["hexadecimal", "binary"],
)
def test_whole_numbers_are_those_of_toml(text: str):
    with pytest.raises(ConfigError, match="more than 64 bits"):
        parse("clmap.toml", text)
