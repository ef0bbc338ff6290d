"""Shared by all tests: settings of hypothesis, and where data lies."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent
for helpers in ("server", "fixes", "trust", "processes"):
    sys.path.insert(0, str(ROOT / "tests" / helpers))

# Hundreds of tests start the command, a server or a worker. Where Python may not write bytecode, as in many
# containers, each of them would compile the whole package anew: as much work as most do beside it.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

settings.register_profile(
    "default",
    deadline=None,  # Machines differ; speed is measured in benchmarks/.
    derandomize=True,  # The same examples everywhere: what fails here fails there.
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("thorough", settings.get_profile("default"), derandomize=False, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


FIRST = ("cli", "fixes", "trust", "scale", "time", "emulator", "server", "drills", "aristotle")
"""The rooms with files that take longest. They begin first, so that no process waits for one in the end."""


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config.option, "loadscopereorder"):
        config.option.loadscopereorder = False  # Tests that are many need not be slow.


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    tests = ROOT / "tests"

    def place(item: pytest.Item) -> int:
        room = item.path.relative_to(tests).parts[0] if item.path.is_relative_to(tests) else ""
        return FIRST.index(room) if room in FIRST else len(FIRST)

    items.sort(key=place)


@pytest.fixture(autouse=True, scope="module")
def what_other_modules_left_is_no_garbage_of_this_one() -> None:
    """Keep the collector from walking what earlier modules left, again and again.

    Within a module it is off: trees are freed by their last references, and to look for cycles in them took a
    tenth of all time. Tests of cycles ask it themselves.
    """
    gc.collect()
    gc.freeze()
    gc.disable()


@pytest.fixture(autouse=True, scope="session")
def an_empty_folder_to_work_in(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Leave the checkout: all its Python files would be searched for the launch of a kernel `k.cl`."""
    before = Path.cwd()
    os.chdir(tmp_path_factory.mktemp("empty"))
    yield
    os.chdir(before)
