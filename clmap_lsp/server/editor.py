"""What the editor said of itself: its settings, for each workspace folder, and what it can do for us."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath

from clmap_lsp.dataclass import dataclass
from clmap_lsp.server.settings import ClientSettings


class EditorSettings:
    """The editor's settings: one for each workspace folder, and those that hold elsewhere."""

    def __init__(self) -> None:
        self.default = ClientSettings()
        self._folders: dict[PurePath, ClientSettings] = {}

    def of(self, path: str) -> ClientSettings:
        """Return what the editor says for a path: that of the innermost workspace folder that holds it."""
        if self._folders:
            for parent in PurePath(path).parents:
                if parent in self._folders:
                    return self._folders[parent]
        return self.default

    def problems(self) -> tuple[str, ...]:
        """Return what cannot be used of the settings, each once."""
        found = [it for one in (self.default, *self._folders.values()) for it in one.problems]
        return tuple(dict.fromkeys(found))

    def take(self, default: ClientSettings, folders: Mapping[str, ClientSettings] | None = None) -> bool:
        """Take new settings; tells whether they differ from those of before."""
        new = {PurePath(path): it for path, it in (folders or {}).items()}
        changed = (default, new) != (self.default, self._folders)
        self.default, self._folders = default, new
        return changed


@dataclass(frozen=True, slots=True)
class ClientAbilities:
    """What `initializationOptions` say that the client can do beyond the protocol."""

    commands: frozenset[str] = frozenset()
    """Commands of its own, such as `clmap.showPanel`; others run in the server."""
    status: bool = False
    """It shows `clmap/status` notifications."""

    @classmethod
    def of(cls, options: Mapping[str, object]) -> ClientAbilities:
        """Read them; values of the wrong kind are taken as not said."""
        named = options.get("commands")
        commands = named if isinstance(named, (list, tuple)) else ()
        return cls(frozenset(it for it in commands if isinstance(it, str)), options.get("status") is True)
