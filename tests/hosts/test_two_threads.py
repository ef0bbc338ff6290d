"""Host code is read in a thread of its own while a document asks for host code, too."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import sys, threading
from clmap_lsp.hosts.LANGUAGE_reader import parse_LANGUAGE
text = TEXT * 3000
sys.setswitchinterval(1e-5)
threads = [threading.Thread(target=lambda: [parse_LANGUAGE(text) for _ in range(4)]) for _ in range(4)]
for it in threads: it.start()
for it in threads: it.join()
print("read")
"""


@pytest.mark.parametrize(
    ("language", "text"),
    [("python", "x = [f(a, b)[0] for a in range(10)]\n"), ("c", "int x = f(a, b)[0] + sizeof(float);\n")],
)
def test_two_threads_may_parse_at_once(language: str, text: str) -> None:
    program = PROGRAM.replace("LANGUAGE", language).replace("TEXT", repr(text))
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout) == (0, "read\n"), found.stderr[-500:]
