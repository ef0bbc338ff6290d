"""Texts that once took the square of their length, or for ever, take time that grows with it.

`python -m fuzz.sizes` measures all families. Here stand those that were mended, with so much text that the
old behaviour would take minutes, and a limit so wide that a busy machine is no fault; a slow one has more.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from fuzz.families import FAMILIES
from fuzz.sizes import measured
from fuzz.slowness import slowness

LIMIT_S = 10.0
"""Of processor time in each stage, on a machine of usual speed; most take less than one."""
MENDED = {
    "variables that grow": 4_000,
    "pointers": 25_000,
    "enumerators": 60_000,
    "the same scattered access": 20_000,
    "includes in includes": 6_000,
    "a launch of chained arguments": 25_000,
    "one include often": 8_000,
    "structs of two structs": 3_000,
    "structs of arrays of structs": 3_000,
    "unions of two unions": 3_000,
    "functions of structs of two structs": 3_000,
    "host: classes that launch": 200_000,
    "host: constructors of members": 50_000,
    "host: macros that double in conditions": 400_000,
    "Python: functions that launch": 300_000,
    "toml: dots": 50_000,
    "toml: dotted keys": 50_000,
}


@pytest.mark.skipif(os.name != "posix", reason="forks")
@pytest.mark.parametrize("name", MENDED)
def test_what_took_long_is_quick(name: str):
    family = next(it for it in FAMILIES if it.name == name)
    size = MENDED[name]
    slow = slowness()
    took = measured(family, (size,))
    assert size in took, "it ended, or ran out of time"
    most = LIMIT_S * max(slow, slowness())  # It may have become busy in between.
    assert {stage: used for stage, used in took[size].items() if ":" in stage or used > most} == {}


def test_families_have_names_of_their_own():
    names = [it.name for it in FAMILIES]
    assert len(names) == len(set(names))
