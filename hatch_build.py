"""Builds the performance database into the wheel, and gives the README links that work where it is shown."""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

_SHOWN = re.compile(r"!\[[^\[\]]*\]\((?![a-z]+:|#)")
_LINKED = re.compile(r"(?<!!)\[[^\[\]]*\]\((?![a-z]+:|#)")


class Readme(MetadataHookInterface):
    """The README as PyPI shows it: there, names of files lead nowhere; they become addresses of the tag."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the description."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": _with_addresses(text, metadata["urls"]["Source"], f"v{metadata['version']}"),
        }


def _with_addresses(text: str, source: str, tag: str) -> str:
    """Return Markdown whose relative links are the repository's; an image is its bytes, not its page."""
    images = f"{source.replace('github.com', 'raw.githubusercontent.com')}/{tag}/"
    shown = _SHOWN.sub(lambda it: it[0] + images, text)
    return _LINKED.sub(lambda it: f"{it[0]}{source}/blob/{tag}/", shown)


class PerformanceDatabase(BuildHookInterface[Any]):
    """Puts `clmap_lsp/aristotle/data/performance.sqlite` into wheels; editable installs make their own."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make the file in the build folder and add it under its name in the package."""
        if version != "standard":
            return
        sys.path.insert(0, self.root)
        from clmap_lsp.aristotle.shipped import build

        # Beside the wheel it would be taken for something to upload.
        self._folder = tempfile.TemporaryDirectory(prefix="clmap-build-")
        target = Path(self._folder.name) / "performance.sqlite"
        build(target)
        build_data["force_include"][str(target)] = "clmap_lsp/aristotle/data/performance.sqlite"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the folder once the wheel holds its file."""
        if version == "standard":
            self._folder.cleanup()
