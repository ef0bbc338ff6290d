"""Write the published schema: `python -m clmap_lsp.config.schema`."""

from __future__ import annotations

import json
from pathlib import Path

from clmap_lsp.config.document import json_schema

SCHEMA_PATH = Path(__file__).with_name("schema.json")


def schema_text() -> str:
    """Return the text that `schema.json` must hold."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    SCHEMA_PATH.write_text(schema_text(), encoding="utf-8")
