"""The labelled set of launches is well-formed; `benchmarks/host_launches.py` measures against it."""

from __future__ import annotations

import json
import re
from pathlib import Path

LABELS = Path(__file__).parents[1] / "data" / "host_launches.json"


def test_labels_name_their_source_and_are_split_in_two() -> None:
    labels = json.loads(LABELS.read_text(encoding="utf-8"))["launches"]
    assert len(labels) >= 60
    for label in labels:
        assert re.fullmatch(r"[\w.-]+/[\w.-]+", label["repository"])
        assert re.fullmatch(r"[0-9a-f]{40}", label["commit"])
        assert len(label["global"]) == len(label["local"])
        for value in (*label["global"], *label["local"], *label["args"].values()):
            assert value is None or isinstance(value, (int, float)) or set(value) == {"run_time"}
    parts = [it["part"] for it in labels]
    assert 0.4 < parts.count("unseen") / len(parts) < 0.6
