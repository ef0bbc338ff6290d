"""A hover says which figures were guessed, and what is known of a launch and from where."""

from __future__ import annotations

from clmap_lsp.config import Settings
from clmap_lsp.server.documents import Document
from clmap_lsp.server.hover_text import access_text, kernel_text
from clmap_lsp.server.snapshot import Snapshot
from clmap_lsp.workbench import Workbench


def hovers(text: str) -> tuple[str, str]:
    file = Workbench().open_text("k.cl", text, Settings(), looks_beside=False)
    snapshot = Snapshot(
        Document("file:///k.cl", "opencl", 1, text), file.settings, file.program, file.analysis, ()
    )
    (kernel,) = file.analysis.kernels
    return kernel_text(snapshot, kernel, None), access_text(snapshot, kernel, kernel.accesses, None)


def test_macros_and_sizes_that_were_guessed_are_named() -> None:
    kernel = "__kernel void f(__global int *x) { x[get_global_id(0) * STEP] = 1; }"
    for text in hovers(kernel):
        (line,) = (it for it in text.splitlines() if it.startswith("- guessed: "))
        assert "STEP=" in line and "local size" in line and "global size" in line


def test_what_is_known_stands_apart_from_what_is_guessed() -> None:
    kernel = """// clmap: global=1024 N=64
__kernel void f(__global int *x, int N, int M)
{
    if (get_global_id(0) < N * M)
        x[get_global_id(0) * N] = M;
}
"""
    for text in hovers(kernel):
        lines = dict(
            it[2:].split(": ", 1)
            for it in text.splitlines()
            if it.startswith(("- guessed: ", "- configured: "))
        )
        assert "N=64" in lines["configured"] and "global size 1024" in lines["configured"]
        assert "M=" in lines["guessed"] and "N=64" not in lines["guessed"]
