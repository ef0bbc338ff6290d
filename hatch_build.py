"""Builds the performance database into the wheel, from the CSV files that the repository holds."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


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
