"""The text of rewrites: clean under `clang -Wall -Wextra` where the kernel was."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import fix_kernels
import pytest
from fixing import SETTINGS, subject_of

from clmap_lsp.fixes.edits import apply
from clmap_lsp.fixes.offer import proposals
from clmap_lsp.fixes.scope import Scope
from clmap_lsp.fixes.unused import pruned
from clmap_lsp.fixes.verification import baseline

CLANG = shutil.which("clang")
TEXTS = {
    name: text
    for name, text in vars(fix_kernels).items()
    if name.isupper() and isinstance(text, str) and "// clmap:" in text
}
OPTIONS = [
    "-cl-std=CL1.2",
    "-fsyntax-only",
    "-Wall",
    "-Wextra",
    "-fno-caret-diagnostics",
    "-fno-color-diagnostics",
]
HEADER = ["-Xclang", "-finclude-default-header", "-Xclang", "-fdeclare-opencl-builtins"]
LINE = re.compile(r"^(?P<file>[^:\n]+\.cl):\d+:\d+: (?P<text>(?:warning|error): .*)$", re.MULTILINE)


def complaints(folder: Path, texts: dict[str, str]) -> dict[str, Counter[str]]:
    """Return what clang says of each text, by name."""
    for name, text in texts.items():
        (folder / f"{name}.cl").write_text(text)
    files = [f"{name}.cl" for name in texts]
    done = subprocess.run(
        [str(CLANG), *OPTIONS, *HEADER, *files], cwd=folder, capture_output=True, text=True, check=False
    )
    found: dict[str, Counter[str]] = {name: Counter() for name in texts}
    for match in LINE.finditer(done.stderr):
        found[match["file"].removesuffix(".cl")][match["text"]] += 1
    return found


@pytest.mark.skipif(CLANG is None, reason="clang is not installed")
def test_no_rewrite_brings_a_warning(tmp_path: Path) -> None:
    texts: dict[str, str] = {}
    for name, text in TEXTS.items():
        subject = baseline(subject_of(text), SETTINGS)
        texts[name] = text
        for number, proposal in enumerate(proposals(subject)):
            if not proposal.moves_data:  # What their rows were long may have been a parameter.
                texts[f"{name}-{number}-{proposal.kind}"] = apply(text, proposal.edits, "k.cl")
    assert len(texts) > 3 * len(TEXTS)
    found = complaints(tmp_path, texts)
    new = {
        name: list((found[name] - found[name.partition("-")[0]]).elements())
        for name in texts
        if found[name] - found[name.partition("-")[0]]
    }
    assert new == {}


ROWS = """#define TAPS 5
#define AT(x, y, pitch) ((y) * (pitch) + (x))
// clmap: global=64,64 local=16,16 N=64 in=random((N+4)*(N+4)) filter=random(25,3) out=zeros(N*N)
__kernel void convolve(__global const float *in, __global const float *filter, __global float *out,
                       const int N)
{
    const int x = get_global_id(0);
    const int y = get_global_id(1);
    const int border = 4; // Two on each side.
    const int pitch = N + border, width = N;
    float sum = 0.0f;
    for (int v = 0; v < TAPS; v++)
        for (int u = 0; u < TAPS; u++)
            sum += filter[v * TAPS + u] * in[AT(x + u, y + v, pitch)];
    out[AT(x, y, width)] = sum;
}
"""
TILES = """// clmap: global=64,64 local=16,16 N=64 in=random(N*N) out=zeros(N*N)
__kernel void transpose(__global const float *in, __global float *out, const int N)
{
    const int x = get_global_id(0);
    const int y = get_global_id(1);
    const int from = y * N + x, to = x * N + y;
    out[to] = 2.0f * in[from];
}
"""


@pytest.mark.skipif(CLANG is None, reason="clang is not installed")
@pytest.mark.parametrize(("text", "kind"), [(ROWS, "several-rows"), (TILES, "move-tile")])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_body_spelt_anew_declares_what_it_uses(tmp_path: Path, text: str, kind: str, newline: str) -> None:
    text = text.replace("\n", newline)
    offered = [it for it in proposals(baseline(subject_of(text), SETTINGS)) if it.kind == kind]
    assert offered
    texts = {f"{n}": apply(text, it.edits, "k.cl") for n, it in enumerate(offered)}
    assert not any("border" in it for it in texts.values())
    assert not any(complaints(tmp_path, texts).values())


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("int a = n;\nint b = a;\nout[0] = n;", "out[0] = n;"),
        ("int a = n, b = n;\nout[0] = b;", "int b = n;\nout[0] = b;"),
        ("{\n    int a = n;\n}\nint a = 2;\nout[0] = a;", "{\n}\nint a = 2;\nout[0] = a;"),
        ("int a = n; /* of\n b */ out[0] = n;", "/* of\n b */ out[0] = n;"),
        ("int a = n, b = ',';\\nout[0] = b;", "int b = ',';\\nout[0] = b;"),
        ("int a = AT(n);\nout[0] = n;", "out[0] = n;"),
        *(
            (it, it)
            for it in (
                "int a = n++;\nout[0] = n;",
                "int a = (n += 2);\nout[0] = n;",
                "int a = next(out);\nout[0] = n;",
                "int a = NEXT;\nout[0] = n;",
                "int a = TWICE;\nout[0] = n;",
                "int named = n;\nout[0] = NAMED;",
                "int own = n;\nout[0] = n;",
                "#if X\nint a = n;\n#endif\nout[0] = n;",
                "int a = n;\nif (n) {\nout[0] = n;",
            )
        ),
    ],
)
def test_declarations_that_do_more_or_have_a_use_stay(text: str, left: str) -> None:
    scope = Scope.of(
        subject_of(
            "#define NEXT n++\n#define TWICE (NEXT + NEXT)\n#define NAMED named\n#define AT(a) ((a) + 1)\n"
            "// clmap: global=64 local=64 n=1 out=zeros(64)\n"
            "__kernel void k(__global int *out, int n)\n{\n    int own = 1;\n"
            "    out[get_global_id(0)] = n;\n}\n"
        )
    )
    assert scope is not None
    assert pruned(scope, text) == left
