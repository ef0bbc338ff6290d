"""Blocks of the documentation that are no commands: configuration is loaded, the rest read as what it is."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from doc_examples import PAGES, ROOT, Example, examples

from clmap_lsp.config.document import json_schema
from clmap_lsp.config.load import ConfigError, parse
from clmap_lsp.devices import list_models
from clmap_lsp.rules.registry import all_rules

TOML = examples("toml")
WORKFLOWS = [f".github/workflows/{it.name}" for it in (ROOT / ".github" / "workflows").glob("*.yml")]
OURS = [it for it in TOML if set(tomllib.loads(it.text)) <= set(json_schema()["properties"])]
CHECKED = {"c", "console", "json", "py", "python", "sh", "text", "toml", "yaml", "elisp", "lua", "mermaid"}


def _names(example: Example) -> str:
    return example.name


@pytest.mark.parametrize("example", OURS, ids=_names)
def test_a_configuration_of_the_docs_loads(example: Example) -> None:
    jsonschema.validate(tomllib.loads(example.text), json_schema())
    parse(
        "clmap.toml",
        example.text,
        devices=[it.id for it in list_models()],
        rules=[it.meta.code for it in all_rules()],
    )


def test_helix_keeps_its_own_grammar_of_opencl() -> None:
    """Its queries name nodes of that grammar: with another one nothing has colours."""
    (found,) = (it for it in TOML if "language-server" in it.text)
    (language,) = tomllib.loads(found.text)["language"]
    assert language["name"] == "opencl"
    assert set(language) <= {"name", "file-types", "roots", "language-servers"}


def test_a_block_that_begins_as_clmap_toml_is_taken_for_one() -> None:
    """A misspelt top-level key must not make a block count as somebody else's file."""
    named = [it for it in TOML if it.text.startswith("# clmap.toml")]
    assert named
    assert {it.name for it in named} <= {it.name for it in OURS}
    with pytest.raises(ConfigError):
        parse("clmap.toml", "[build]\ninclude_dirs = []\n", devices=[], rules=[])


def _problems(schema: str, *paths: Path) -> str:
    """Return what check-jsonschema says against files, by the schemas that come with it."""
    command = [
        sys.executable,
        "-m",
        "check_jsonschema",
        "--builtin-schema",
        f"vendor.{schema}",
        *map(str, paths),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr if done.returncode else ""


@pytest.mark.parametrize("example", examples("yaml"), ids=_names)
def test_yaml_of_the_docs_is_yaml_of_its_kind(example: Example, tmp_path: Path) -> None:
    data = yaml.safe_load(example.text)
    hooks = {it["id"] for it in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))}
    if "repos" in data:
        assert {hook["id"] for repo in data["repos"] for hook in repo["hooks"]} <= hooks
        return
    assert _commands(data), f"{example.name}: no command of ours in it"
    (tmp_path / "block.yml").write_text(example.text, encoding="utf-8")
    schema = "github-workflows" if "jobs" in data else "gitlab-ci"
    assert _problems(schema, tmp_path / "block.yml") == ""


@pytest.mark.parametrize(
    ("schema", "paths"),
    [
        ("github-actions", ["action.yml"]),
        ("github-workflows", ["examples/github-action.yml", *sorted(WORKFLOWS)]),
        ("gitlab-ci", ["examples/gitlab-ci.yml"]),
        ("readthedocs", [".readthedocs.yaml"]),
    ],
)
def test_files_for_other_tools_fit_their_schemas(schema: str, paths: list[str], tmp_path: Path) -> None:
    assert _problems(schema, *(ROOT / it for it in paths)) == ""
    (tmp_path / "wrong.yml").write_text("- jobs\n", encoding="utf-8")
    assert _problems(schema, tmp_path / "wrong.yml")


NVIM = shutil.which("nvim")
_RECORDER = """
local seen = {}
vim.lsp.config = function(name, settings) seen[name] = settings end
vim.lsp.enable = function(name) seen.enabled = name end
dofile(%s)
io.write(vim.json and vim.json.encode(seen) or vim.fn.json_encode(seen))
vim.cmd("qall!")
"""


@pytest.mark.skipif(NVIM is None, reason="no Neovim here")
@pytest.mark.parametrize("example", examples("lua"), ids=_names)
def test_lua_of_the_docs_starts_the_server(example: Example, tmp_path: Path) -> None:
    (tmp_path / "block.lua").write_text(example.text, encoding="utf-8")
    (tmp_path / "run.lua").write_text(_RECORDER % json.dumps(str(tmp_path / "block.lua")), encoding="utf-8")
    command = [str(NVIM), "--clean", "--headless", "-c", f"luafile {tmp_path / 'run.lua'}", "-c", "cquit"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen[seen["enabled"]]["cmd"][0] == "clmap-lsp"
    assert seen[seen["enabled"]]["filetypes"] == ["opencl"]


def _commands(data: Any) -> list[str]:
    if isinstance(data, dict):
        return [it for value in data.values() for it in _commands(value)]
    if isinstance(data, list):
        return [it for value in data for it in _commands(value)]
    return [data] if isinstance(data, str) and "clmap-lsp" in data else []


@pytest.mark.parametrize("example", examples("json"), ids=_names)
def test_json_of_the_docs_is_json(example: Example) -> None:
    assert json.loads(example.text)


def test_every_kind_of_block_is_known() -> None:
    """A new kind of block needs a test of its own here or in test_examples.py."""
    languages = {
        language
        for page in PAGES
        for language in re.findall(r"^```(\w+)", page.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert languages <= CHECKED


def _messages() -> list[tuple[Path, str]]:
    """Return every string of the package that speaks of `clmap.toml`, f-strings with holes as `{}`."""
    found = []
    for path in sorted((ROOT / "clmap_lsp").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            text = ""
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                text = node.value
            elif isinstance(node, ast.JoinedStr):
                text = "".join(it.value if isinstance(it, ast.Constant) else "{}" for it in node.values)
            if "clmap.toml" in text:
                found.append((path, text))
    return found


def _tables() -> dict[str, set[str]]:
    """Return the keys of each table of the schema, `""` for the top level."""
    properties = json_schema()["properties"]
    tables = {"": set(properties)}
    for name, it in properties.items():
        tables[name] = set(it.get("properties", {}))
    return tables


def test_messages_name_keys_that_exist() -> None:
    """`KEY under [TABLE] in clmap.toml` and `KEY in clmap.toml` name keys of the schema."""
    tables, seen = _tables(), 0
    for path, text in _messages():
        for key, table in re.findall(r"(\w+) under \[(\w+)\] in clmap\.toml", text):
            assert key in tables.get(table, set()), f"{path.name}: no key {key} in [{table}]: {text}"
            seen += 1
        for key in re.findall(r"\b([a-z]+_[a-z_]+) in clmap\.toml", text):
            known = set().union(*tables.values())
            assert key in known, f"{path.name}: no key {key} in clmap.toml: {text}"
    assert seen
