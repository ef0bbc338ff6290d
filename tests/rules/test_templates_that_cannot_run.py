"""Template text whose guesses no compiler takes: that says nothing of the text that the host builds."""

from __future__ import annotations

from pathlib import Path

import pytest

from clmap_lsp.cli import main

HOST = '''\
import pyopencl as cl
from mako.template import Template

TEXT = """
__kernel void fill(__global ${type}${lanes} *a)
{
  ${type}${lanes} first = (${type}${lanes})(
      ${first}
  % for i in range(lanes - 1):
      , ${first}
  % endfor
  );
  a[get_global_id(0)] = first;
}
"""
program = cl.Program(ctx, Template(TEXT).render(**settings())).build()
program.fill(queue, (64,), (8,), buffer)
'''


def test_that_it_cannot_be_run_is_a_hint(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "app.py").write_text(HOST)
    assert main(["check", "--emulate", str(tmp_path)]) == 0
    assert "CM007" not in capsys.readouterr().out
    main(["check", "--emulate", "--hints", str(tmp_path)])
    assert "hint CM007" in capsys.readouterr().out
