"""What the system refuses is said as that, with the file, and is no fault of ours."""

from __future__ import annotations

import errno
import os

import pytest

from clmap_lsp.commands import checking
from clmap_lsp.commands.checking import CheckJob, check_file
from clmap_lsp.errors import system_error


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/x/y"), "/x/y: no space left on device"),
        (OSError(errno.EMFILE, os.strerror(errno.EMFILE)), "input or output: too many open files"),
        (OSError("of its own\nmaking"), "input or output: of its own making"),
    ],
)
def test_it_is_one_line_with_the_file(error: OSError, said: str):
    assert system_error(error) == said


def test_a_check_says_it_of_the_file(monkeypatch: pytest.MonkeyPatch):
    def refused(job: CheckJob) -> object:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE), "table.csv")

    monkeypatch.setattr(checking, "_checked", refused)
    assert _checked("k.cl") == "k.cl: table.csv: too many open files"


def _checked(path: str) -> str | None:
    job = object.__new__(CheckJob)
    object.__setattr__(job, "path", path)
    return check_file(job).error
