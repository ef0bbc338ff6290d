"""Makes the pages that follow from the code while the site is built, so that they are never out of date."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from clmap_lsp import commands
from clmap_lsp.config.document import json_schema
from clmap_lsp.config.schema import schema_text
from clmap_lsp.devices import list_models
from clmap_lsp.devices.model import Confidence, DeviceModel
from clmap_lsp.report.devices import local_words
from clmap_lsp.rules.meta import GROUPS
from clmap_lsp.rules.registry import all_rules

_FOLDER = Path(__file__).parent
_BROWSER = _FOLDER.parent / "build" / "browser"
"""What `make browser` builds: the checker for the page try.md."""
_PARSER_WIDTH = 100


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the rules' pages, and pages that stand beside this file unlisted, into the navigation."""
    named = yaml.safe_dump(config.nav)
    unlisted = [it.name for it in sorted(_FOLDER.glob("*.md")) if it.name not in named]
    for section in config.nav or []:
        if "What the figures mean" in section:
            section["What the figures mean"] += unlisted
        if "Reference" in section:
            rules = [{f"{it.meta.code} {it.meta.name}": f"rules/{it.meta.code}.md"} for it in all_rules()]
            section["Reference"][0] = {"Rules": ["rules/index.md", *rules]}
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    for path, text in pages().items():
        files.append(File.generated(config, path, content=text))
    return files


_OUTPUT = re.compile(r'<span class="go">([^<]*)</span>')
_SENTENCE = re.compile(r"\S+:\d+:\d+: |  (?:`|= |[A-Z0-9][^|]*$)|[\d,]+ (?:warning|note|error|figures)|note ")


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Let sentences of console output wrap, and give the search its name for screen readers."""
    output = _OUTPUT.sub(_wrapped, output)
    return output.replace('role="dialog"', 'role="dialog" aria-label="Search"')


def _wrapped(line: re.Match[str]) -> str:
    said = " said" if _SENTENCE.match(line[1]) and "  " not in line[1].strip() else ""
    return f'<span class="go{said}">{line[1]}</span>'


def on_post_build(config: MkDocsConfig) -> None:
    """Put the checker that runs in browsers into the site, where it was built."""
    if _BROWSER.is_dir():
        shutil.copytree(_BROWSER, Path(config.site_dir) / "browser", dirs_exist_ok=True)


def pages() -> dict[str, str]:
    """Return every generated page by its path below docs/."""
    made = {f"rules/{it.meta.code}.md": it.docs.markdown(it.meta) for it in all_rules()}
    return {
        **made,
        "rules/index.md": rules_page(),
        "reference/commands.md": commands_page(),
        "reference/configuration.md": configuration_page(),
        "reference/devices.md": devices_page(),
        "schema/clmap.json": schema_text(),
    }


def rules_page() -> str:
    """Return the list of rules by group."""
    lines = ["# Rules", "", "`clmap-lsp explain CODE` prints the same pages.", ""]
    for digit, group in GROUPS.items():
        rules = [it for it in all_rules() if it.meta.code[2:3] == digit]
        if not rules:
            continue
        lines += [
            f"## {group[0].upper()}{group[1:]}",
            "",
            "| code | name | severity | fix | finds |",
            "|---|---|---|---|---|",
        ]
        lines += [
            f"| [{it.meta.code}]({it.meta.code}.md) | {it.meta.name} | {it.meta.severity.value} "
            f"| {'yes' if it.meta.fixable else ''} | {_cell(it.docs.summary)} |"
            for it in rules
        ]
        lines.append("")
    return "\n".join(lines)


def commands_page() -> str:
    """Return what each subcommand's `--help` says."""
    lines = [
        "# Command line",
        "",
        "Rows and columns are 1-based, in code points of the file as typed. Exit codes: 0 nothing found, "
        "1 findings, 2 the tool could not do its job. `clmap-lsp` without arguments, or with `--stdio`, is "
        "the language server.",
        "",
    ]
    parser = argparse.ArgumentParser(prog="clmap-lsp")
    subparsers: Any = parser.add_subparsers()
    for name in sorted(it.name for it in pkgutil.iter_modules(commands.__path__)):
        module = importlib.import_module(f"clmap_lsp.commands.{name}")
        if hasattr(module, "register"):
            module.register(subparsers)
    for name, sub in subparsers.choices.items():
        sub.formatter_class = _wide(sub.formatter_class)
        lines += [f"## {name}", "", "```text", sub.format_help().rstrip(), "```", ""]
    return "\n".join(lines)


def _wide(formatter: Any) -> Any:
    """Return the formatter with a width that does not depend on the terminal."""
    return lambda prog: formatter(prog, width=_PARSER_WIDTH)


def configuration_page() -> str:
    """Return every key of `clmap.toml`."""
    lines = [
        "# clmap.toml",
        "",
        "The nearest `clmap.toml` at or above a file holds for it; `--config` names another. The "
        "[JSON schema](../schema/clmap.json) gives editors completion. Command-line options are "
        "stronger, and so are editor settings.",
        "",
        "| key | takes | default | what it says |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| `{key}` | {takes} | {default} | {_cell(text)} |" for key, takes, default, text in settings()
    ]
    return "\n".join(lines) + "\n"


def settings() -> Iterator[tuple[str, str, str, str]]:
    """Yield (key, type, default, description) of every setting, from the published schema."""
    yield from _keys("", json_schema())


def _keys(prefix: str, schema: dict[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    for name, shape in schema.get("properties", {}).items():
        default = f"`{shape['default']}`" if "default" in shape else ""
        yield prefix + name, _takes(shape), default, shape.get("description", "")
        yield from _keys(f"{prefix}{name}.", shape)
        if isinstance(shape.get("additionalProperties"), dict):
            yield from _keys(f"{prefix}{name}.NAME.", shape["additionalProperties"])
        if isinstance(shape.get("items"), dict):
            yield from _keys(f"{prefix}{name}[].", shape["items"])


def _takes(shape: dict[str, Any]) -> str:
    if "enum" in shape:
        return ", ".join(f"`{it}`" for it in shape["enum"])
    options = shape.get("anyOf") or shape.get("oneOf")
    if options:
        return " or ".join(dict.fromkeys(_takes(it) for it in options))
    kind = shape.get("type", "value")
    if isinstance(kind, list):
        return " or ".join(kind)
    if kind == "array" and isinstance(shape.get("items"), dict):
        return f"list of {_takes(shape['items'])}"
    return "table" if kind == "object" else str(kind)


def devices_page() -> str:
    """Return every device model with its facts, their confidence and sources."""
    models = list_models()
    lines = [
        "# Device models",
        "",
        "A model holds what is published or measured about how a device moves memory. A fact that nobody "
        "published is unknown, and so is every count that needs it. Confidence:",
        "",
        "| word | means |",
        "|---|---|",
        "| measured | hardware counters, or a microbenchmark that is cited |",
        "| documented | the vendor's own documents or software |",
        "| community | published by others than the vendor |",
        "| assumed | a choice of the model where the machine or the compiler decides; the note says which |",
        "| unknown | not published |",
        "",
        "| model | lanes | sector | local memory | " + " | ".join(it.value for it in Confidence) + " |",
        "|---|---|---|---|" + "---|" * len(Confidence),
    ]
    lines += [_device_row(it) for it in models]
    for it in models:
        lines += ["", f"## {it.id}", "", f"{it.name}."]
        if it.aliases:
            lines += ["", f"Also called {', '.join(f'`{alias}`' for alias in it.aliases)}."]
        lines += ["", "| fact | value | confidence | source |", "|---|---|---|---|"]
        for name, fact in it.facts.items():
            value = "unknown" if fact.value is None else str(fact.value)
            note = f" {fact.note}" if fact.note else ""
            lines.append(
                f"| {name} | {_cell(value)} | {fact.confidence.value} | {_cell(fact.source + '.' + note)} |"
            )
        lines += [f"\n{_cell(note)}" for note in it.notes]
    return "\n".join(lines) + "\n"


def _device_row(it: DeviceModel) -> str:
    granule = "unknown" if it.granule_bytes is None else f"{it.granule_bytes} B"
    counts = [sum(fact.confidence is level for fact in it.facts.values()) for level in Confidence]
    return (
        f"| [{it.id}](#{it.id}) | {it.simd_width} | {granule} | {local_words(it)} | "
        + " | ".join(map(str, counts))
        + " |"
    )


def _cell(text: str) -> str:
    """Return text that stays inside a table cell."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
