"""Writes one page with what an editor shows of kernels in a few words: lenses, problems, titles of fixes.

    python -m benchmarks.editor_texts [FOLDER] [--fixes] > page.md

It is to be read by somebody who sees them for the first time. `--fixes` verifies rewrites, for minutes.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from clmap_lsp.server.app import create_server
from clmap_lsp.server.documents import Document, Documents
from clmap_lsp.server.engine import Engine
from clmap_lsp.server.features.lenses import lenses
from clmap_lsp.server.headline import WIDTH
from clmap_lsp.server.publishing import diagnostics_of
from clmap_lsp.workbench import Workbench
from clmap_lsp.workbench.configuration import Configurations

FIXTURES = Path(__file__).parents[1] / "fixtures"


def page(folder: Path, *, with_fixes: bool) -> Iterator[str]:
    """Yield the lines of the page."""
    server = create_server()
    engine = Engine(Documents())
    settings = Configurations()
    longest = 0
    for path in sorted(folder.rglob("*.cl")):
        own = settings.for_path(path.absolute())
        text = path.read_text("utf-8", "replace")
        document = Document(path.absolute().as_uri(), "opencl", 1, text)
        snapshot = engine.analyse(document, own)
        yield f"\n## {path.relative_to(folder)}\n"
        by_line: dict[int, list[str]] = {}
        for it in lenses(server, snapshot):
            if it.command is not None:
                by_line.setdefault(it.range.start.line, []).append(it.command.title)
        yield from (f"* {line + 1}: **{' | '.join(titles)}**" for line, titles in by_line.items())
        for found in diagnostics_of(server, snapshot):
            longest = max(longest, len(found.message))
            yield f"* {found.range.start.line + 1}: {found.code} {found.message}"
        if with_fixes:
            opened = Workbench().open_text(str(path), text, own)
            for kernel in (it for it in opened.analysis.kernels if it.launch is not None):
                offers = opened.offers(opened.subject(kernel))
                yield from (f"* {kernel.name}: {fix.title}" for _, fix in offers)
    yield f"\nThe longest problem has {longest} of {WIDTH} characters."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=FIXTURES)
    parser.add_argument("--fixes", action="store_true")
    arguments = parser.parse_args()
    for line in page(arguments.folder, with_fixes=arguments.fixes):
        print(line)


if __name__ == "__main__":
    main()
