"""LSP features, one file each. Each has `register(server)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clmap_lsp.server.features import (
    actions,
    commands,
    compiled_view,
    completing,
    configuration,
    configuration_files,
    diagnostics,
    formatting,
    hints,
    hover,
    kernel_view,
    lenses,
    navigation,
    optimising,
    outline,
    refreshing,
    renaming,
    report,
    semantic,
    synchronization,
    workspace,
)

if TYPE_CHECKING:
    from clmap_lsp.server.app import ClmapServer

_FEATURES = (
    configuration,
    configuration_files,
    synchronization,
    diagnostics,
    hover,
    lenses,
    refreshing,
    hints,
    actions,
    commands,
    optimising,
    kernel_view,
    compiled_view,
    report,
    navigation,
    outline,
    renaming,
    completing,
    semantic,
    formatting,
    workspace,
)


def register(server: ClmapServer) -> None:
    """Register every feature."""
    for it in _FEATURES:
        it.register(server)
