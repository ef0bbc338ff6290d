"""The shape of `clmap.toml`: every key, what it takes, and the sentence that explains it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from clmap_lsp import defaults
from clmap_lsp.config.shapes import Boolean, Either, Integer, Key, ListOf, MapOf, Number, Scalar, Table, Text
from clmap_lsp.links import DOCS_URL

SEVERITIES = ("error", "warning", "information", "hint")
FAIL_ON = ("error", "warning", "information", "never")
STANDARDS = ("CL1.0", "CL1.1", "CL1.2", "CL2.0", "CL3.0", "CLC++", "CLC++1.0", "CLC++2021")

_ARGUMENTS = (
    "Arguments by parameter: a number, or for a buffer `zeros(n)`, `iota(n)`, `random(n,seed)`, "
    "`permutation(n,seed)`, `formula(n,EXPR)`, `file:PATH`, `image(W,H,random)` for an image, "
    "and `local(n)` for a `__local` pointer. n may use scalar arguments, as in `N*N`."
)
_LOWER = (
    "{} that one launch may take. A file can lower what holds without it; `check --time-limit` and "
    "`--memory-limit` raise it."
)
_ENABLED = (
    "Run kernels in the emulator during `check`; only said by a file that a person names with `--config`, as "
    "`--emulate` is. `false` switches it off."
)
MAX_SECONDS, MAX_MIB = 3600.0, 65536
MAX_GLOBS, MAX_OVERRIDES = 200, 50
"""Every file is held against each of these: 60,000 globs took a second and a half a file."""
_MACRO = r"^[A-Za-z_$][A-Za-z_0-9$]*($|[(=])"
_SCHEMA_ID = f"{DOCS_URL}schema/clmap.json"


def document(devices: Collection[str] = (), rules: Collection[str] = ()) -> Table:
    """Return the shape; names of devices and rules are checked where they are given."""
    selectors = ListOf(Text(choices=tuple(rules), listed_by="clmap-lsp rules"))
    severity = MapOf(Text(choices=SEVERITIES), keys=tuple(rules))
    device = Text(
        choices=tuple(devices),
        suggestions=(defaults.DEVICE, "nvidia-hopper"),
        listed_by="clmap-lsp devices",
    )
    macro = Text(pattern=_MACRO, what="a macro's name, such as TILE")
    defines = Either(
        {dict: MapOf(Scalar(), names=macro), list: ListOf(macro)},
        'a table {TILE = 16} or a list ["TILE=16", "USE_LOCAL"]',
    )
    size = Either(
        {list: ListOf(Integer(minimum=1), least=1, most=3), int: Integer(minimum=1)}, "1 to 3 sizes"
    )
    seconds, mebibytes = defaults.TIME_LIMIT_S, defaults.MEMORY_LIMIT_MIB
    standard = Text(choices=STANDARDS)
    return Table(
        {
            "device": Key(
                device,
                "Device model that figures hold for; `clmap-lsp devices` lists them.",
                defaults.DEVICE,
            ),
            "fail-on": Key(
                Text(choices=FAIL_ON), "Least severity that makes `check` exit with 1.", defaults.FAIL_ON
            ),
            "exclude": Key(
                ListOf(Text(), most=MAX_GLOBS), "Globs of files that a directory walk leaves out."
            ),
            "baseline": Key(Text(), "File of known findings that are not reported again."),
            "build": Key(
                Table(
                    {
                        "defines": Key(defines, "Macros, as `-D` to clBuildProgram."),
                        "undefines": Key(ListOf(Text()), "Macros to undefine, as `-U`."),
                        "include": Key(ListOf(Text()), "Include folders, as `-I`, relative to this file."),
                        "prelude": Key(
                            ListOf(Text()),
                            "Files read before each source, as `-include`; relative to this file.",
                        ),
                        "standard": Key(standard, "OpenCL C version, as `-cl-std`.", defaults.STANDARD),
                    }
                ),
                "Build options that every file is read with.",
            ),
            "rules": Key(
                Table(
                    {
                        "select": Key(
                            selectors, "Rules that speak: codes, prefixes (`CM1`), names or `ALL`.", ["ALL"]
                        ),
                        "ignore": Key(selectors, "Rules that stay silent; stronger than `select`."),
                        "severity": Key(severity, "Severity of a rule, by code or name."),
                    }
                ),
                "Which rules speak, and how loudly.",
            ),
            "launch": Key(
                MapOf(
                    Table(
                        {
                            "global": Key(size, "Global size, dimension 0 first; work-items."),
                            "local": Key(size, "Work-group size, dimension 0 first; work-items."),
                            "offset": Key(
                                ListOf(Integer(minimum=0), 1, 3), "Global offset, dimension 0 first."
                            ),
                            "args": Key(MapOf(Scalar()), _ARGUMENTS),
                        }
                    )
                ),
                "Launches by kernel name. What is left out is inferred.",
            ),
            "emulate": Key(
                Table(
                    {
                        "enabled": Key(Boolean(), _ENABLED, False),
                        "time-limit": Key(Number(maximum=MAX_SECONDS), _LOWER.format("Seconds"), seconds),
                        "memory-limit": Key(
                            Integer(minimum=16, maximum=MAX_MIB), _LOWER.format("MiB"), mebibytes
                        ),
                    }
                ),
                "The emulator during `check`.",
            ),
            "recorded": Key(Text(), "Recording of launches, made by `clmap-lsp record`."),
            "hosts": Key(
                Table(
                    {
                        "enabled": Key(Boolean(), "Take launches from host code.", True),
                        "defines": Key(defines, "Macros that the host program is compiled with."),
                        "wrappers": Key(
                            MapOf(
                                Table(
                                    {
                                        "kernel": Key(
                                            Scalar(), "The kernel's handle or name: an argument, or a name."
                                        ),
                                        "global": Key(Integer(minimum=0), "The global size.", required=True),
                                        "local": Key(Integer(minimum=0), "The work-group size."),
                                        "source": Key(Integer(minimum=0), "The kernel file."),
                                        "arguments": Key(
                                            Integer(minimum=0), "The first of the kernel's own arguments."
                                        ),
                                    }
                                )
                            ),
                            "Functions of the project's own that launch kernels, by name: which of their "
                            "arguments, counted from 0, is what.",
                        ),
                    }
                ),
                "How host code is read for the launches that it makes.",
            ),
            "override": Key(
                ListOf(
                    Table(
                        {
                            "paths": Key(
                                ListOf(Text(), least=1, most=MAX_GLOBS),
                                "Globs relative to this file.",
                                required=True,
                            ),
                            "device": Key(device, "Device model for these files."),
                            "select": Key(selectors, "Replaces `rules.select` for these files."),
                            "ignore": Key(selectors, "Adds to `rules.ignore` for these files."),
                            "severity": Key(severity, "Adds to `rules.severity` for these files."),
                            "defines": Key(defines, "Adds to `build.defines` for these files."),
                            "include": Key(ListOf(Text()), "Adds to `build.include` for these files."),
                            "prelude": Key(ListOf(Text()), "Adds to `build.prelude` for these files."),
                            "standard": Key(standard, "OpenCL C version of these files."),
                        }
                    ),
                    most=MAX_OVERRIDES,
                ),
                "What differs for some paths; later tables are stronger.",
            ),
        }
    )


def json_schema() -> dict[str, Any]:
    """Return the published JSON schema of `clmap.toml`."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": _SCHEMA_ID,
        "title": "clmap.toml",
        "description": "Configuration of clmap-lsp, the language server and checker for OpenCL C.",
        **document().schema(),
    }
