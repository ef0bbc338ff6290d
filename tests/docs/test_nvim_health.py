"""`:checkhealth clmap` looks for the program that is started, which setup may name."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from doc_examples import ROOT

NVIM = shutil.which("nvim")


@pytest.mark.skipif(NVIM is None, reason="no Neovim here")
@pytest.mark.parametrize("there", [True, False])
def test_the_program_of_setup_is_looked_for(tmp_path: Path, there: bool) -> None:
    program = tmp_path / "my-clmap"
    if there:
        program.write_text("#!/bin/sh\necho clmap-lsp 1.2.3\n", encoding="utf-8")
        program.chmod(0o755)
    (tmp_path / "run.lua").write_text(
        f"vim.opt.runtimepath:append('{ROOT / 'editors' / 'nvim'}')\n"
        f"require('clmap').setup({{ cmd = {{ '{program}', '--stdio' }} }})\n"
        "vim.cmd('checkhealth clmap')\n"
        f"vim.fn.writefile(vim.api.nvim_buf_get_lines(0, 0, -1, false), '{tmp_path / 'said'}')\n"
        "vim.cmd('qall!')\n",
        encoding="utf-8",
    )
    command = [str(NVIM), "--clean", "--headless", "-c", f"luafile {tmp_path / 'run.lua'}", "-c", "cquit"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    said = (tmp_path / "said").read_text("utf-8")
    found = f"clmap-lsp 1.2.3 at {program}" if there else f"{program} is no program that can be found"
    assert found in said, said
