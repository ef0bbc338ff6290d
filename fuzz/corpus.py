"""What mutations start from: the fixtures, the rules' examples, our attacks, and inputs found to matter."""

from __future__ import annotations

import ast
import json
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
GROWN = Path(__file__).parent / "corpus"
"""One folder a driver: inputs that once broke something, or reach what fixtures do not."""

_FENCED = re.compile(r"^```c\n(.*?)^```", re.MULTILINE | re.DOTALL)

_LAUNCHES = re.compile(r"NDRange|EnqueueArgs|pyopencl|\(queue, ")

_SIMS = (
    "kernel.cl\nk\n64 1 1\n16 1 1\n<size=256 float fill=1.5>\n<size=256 range=0:1:63 dump>\n"
    "<size=4 int>\n64\n",
    "k.cl k 8 8 1 4 4 1 # a comment\n<size=64 uchar hex>\nff 00 1a\n<size=16 noinit wo>\n<size=8>\n7\n",
    "k.cl k 1 1 1 1 1 1 <null> <size=1024> <size=8 double> 1e-3\n",
)
_TOMLS = (
    'device = "nvidia-hopper"\nexclude = ["third/**"]\nfail-on = "error"\n[build]\n'
    'defines = {N = 8, M = "x y"}\n'
    'include = ["include"]\nstandard = "CL2.0"\n[rules]\nselect = ["CM1"]\nignore = ["CM102"]\n'
    '[rules.severity]\nCM101 = "hint"\n',
    '[launch.mm]\nglobal = [256, 256]\nlocal = [16, 16]\n[launch.mm.args]\nN = 256\nA = "random(N*N)"\n'
    "[emulate]\nenabled = true\ntime-limit = 2.5\nmemory-limit = 64\n",
    '[[override]]\nfiles = ["a/*.cl"]\nselect = ["ALL"]\n[override.build]\ndefines = ["A=1", "B"]\n',
)
_ARGUMENTS = (
    "random(N*N, 3)", "formula(64, ((i*37)%1009)/64.0)", "local(N)", "iota(1<<4)", "(1, 2, 3, 4)",
    "null",    "values(1,2,3)", "permutation(N)", "0x10", "-1.5f",
     "min(N, 4) * max(2, 3)", "file:missing.bin", "zeros(N/2)",
)  # fmt: skip


@cache
def kernels() -> tuple[str, ...]:
    """Return OpenCL C texts."""
    files = [*(ROOT / "fixtures").rglob("*.cl"), *(ROOT / "tests" / "trust" / "attacks").glob("*.cl")]
    texts = [it.read_text(encoding="utf-8") for it in sorted(files)]
    for page in sorted((ROOT / "tests" / "rules").glob("*.md")):
        texts += _FENCED.findall(page.read_text(encoding="utf-8"))
    return tuple(texts)


@cache
def short_kernels() -> tuple[str, ...]:
    """Return those that run quickly whatever is changed in them."""
    return tuple(it for it in kernels() if len(it) < 2500)


def grown(driver: str) -> tuple[str, ...]:
    """Return the kept inputs of a driver."""
    folder = GROWN / driver
    return tuple(it.read_bytes().decode("utf-8", "surrogateescape") for it in sorted(folder.glob("*")))


def sims() -> tuple[str, ...]:
    """Return `.sim` files."""
    return _SIMS


def tomls() -> tuple[str, ...]:
    """Return `clmap.toml` files."""
    return _TOMLS


def arguments() -> tuple[str, ...]:
    """Return argument texts of launches, and a launch comment's."""
    return (*_ARGUMENTS, "global=256,256 local=16,16 N=256 A=random(N*N)")


@cache
def hosts() -> tuple[str, ...]:
    """Return host programs in C, C++ and Python: those of the tests of reading them."""
    texts = []
    for page in sorted((ROOT / "tests" / "hosts").rglob("*.py")):
        nodes = ast.walk(ast.parse(page.read_text(encoding="utf-8")))
        constants = (it.value for it in nodes if isinstance(it, ast.Constant))
        texts += [it for it in constants if isinstance(it, str) and _LAUNCHES.search(it) and "\n" in it]
    return tuple(texts)


def messages() -> tuple[bytes, ...]:
    """Return messages of a session, framed."""
    document = {"uri": "file:///k.cl", "languageId": "opencl", "version": 1, "text": kernels()[0]}
    place = {"textDocument": {"uri": "file:///k.cl"}, "position": {"line": 3, "character": 4}}
    edit = {"range": {"start": {"line": 0, "character": 0}, "end": {"line": 1, "character": 2}}, "text": "x"}
    versioned = {"uri": "file:///k.cl", "version": 2}
    bodies: list[dict[str, object]] = [
        {"id": 1, "method": "initialize", "params": {"capabilities": {}, "processId": None, "rootUri": None}},
        {"method": "initialized", "params": {}},
        {"method": "textDocument/didOpen", "params": {"textDocument": document}},
        {"method": "textDocument/didChange", "params": {"textDocument": versioned, "contentChanges": [edit]}},
        {"id": "a", "method": "textDocument/hover", "params": place},
        {"method": "$/cancelRequest", "params": {"id": 1}},
        {"method": "$/setTrace", "params": {"value": "verbose"}},
        {"id": 3, "result": None},
        {"id": 4, "error": {"code": 1, "message": "no"}},
        {"method": "textDocument/didClose", "params": {"textDocument": {"uri": "file:///k.cl"}}},
        {"method": "textDocument/didOpen", "params": {"textDocument": {**document, "uri": "file://["}}},
        {"id": "b", "method": "textDocument/hover", "params": {**place, "textDocument": {"uri": "file://["}}},
        {"method": "textDocument/didOpen", "params": {"textDocument": {**document, "text": "\ud800 k"}}},
        {"id": [], "method": "textDocument/hover", "params": place},
        {"id": "a", "result": {"contents": "forged"}},
        {"id": 5, "method": "workspace/executeCommand", "params": {"command": "clmap.report"}},
        {"id": 9, "method": "shutdown"},
    ]
    framed = []
    for body in bodies:
        text = json.dumps({"jsonrpc": "2.0", **body}).encode()
        framed.append(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))
    return tuple(framed)
