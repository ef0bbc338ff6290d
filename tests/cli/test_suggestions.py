"""Suggestions are made where they are likely, and shells complete what the parser knows."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from clmap_command import clmap

from clmap_lsp.suggestions import nearest


@pytest.mark.parametrize(
    ("word", "known", "meant"),
    [
        ("nvidia-hoper", ["nvidia-hopper", "amd-gcn"], "nvidia-hopper"),
        ("Gemvv", ["gemv", "gemm_tiled"], "gemv"),
        ("nope", ["nvidia-hopper", "hopper"], None),
        ("CM110", ["CM101", "CM10"], None),
        ("CM9", ["CM", "CM5"], None),
        ("CM999", ["CM509"], None),
        ("", ["a"], None),
        ("nvidia-h100", ["nvidia-h200", "nvidia-h100-sxm"], "nvidia-h100-sxm"),
        ("tile", ["tile_a_of_gemm", "tile_b_of_gemm"], None),
    ],
)
def test_only_likely_words_are_suggested(word: str, known: list[str], meant: str | None) -> None:
    assert nearest(word, known) == meant


def test_a_wrong_code_names_the_list() -> None:
    done = clmap("explain", "CM999")
    assert done.returncode == 2
    assert done.stderr == 'clmap-lsp: unknown rule "CM999"; "clmap-lsp rules" lists them\n'


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (("check", "k.cl", "--format", "sarfi"), "sarif"),
        (("check", "k.cl", "--fail-on", "warnings"), "warning"),
        (("emulate", "k.cl", "--engine", "symbolc"), "symbolic"),
    ],
)
def test_a_misspelt_choice_is_guessed(arguments: tuple[str, ...], meant: str) -> None:
    done = clmap(*arguments)
    assert done.returncode == 2
    assert done.stderr.endswith(f'; did you mean "{meant}"?\n')


def test_a_path_without_a_command_is_to_be_checked(tmp_path: Path) -> None:
    (tmp_path / "my kernels").mkdir()
    done = clmap("my kernels", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.endswith("""did you mean clmap-lsp check 'my kernels'?\n""")


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals there")
def test_at_a_terminal_the_server_says_what_it_is() -> None:
    import pty

    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "clmap_lsp"]
    try:
        done = subprocess.run(command, stdin=theirs, capture_output=True, text=True, check=False, timeout=60)
    finally:
        os.close(ours)
        os.close(theirs)
    assert done.returncode == 2
    assert "clmap-lsp check PATH" in done.stderr


def test_bash_completes_commands_options_and_values(tmp_path) -> None:  # type: ignore[no-untyped-def]
    pytest.importorskip("shtab")
    script = clmap("completion", "bash")
    assert script.returncode == 0, script.stderr
    (tmp_path / "complete.sh").write_text(script.stdout, encoding="utf-8")
    ask = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
$(complete -p clmap-lsp | sed -E 's/.*-F ([^ ]+).*/\\1/') clmap-lsp "${COMP_WORDS[COMP_CWORD]}" ""
printf '%s\\n' "${COMPREPLY[@]}"
"""

    def complete(*words: str) -> set[str]:
        command = ["bash", "--norc", "-c", ask, "bash", str(tmp_path / "complete.sh"), "clmap-lsp", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return set(done.stdout.split())

    assert {"analyze", "check"} <= complete("")
    assert "--unsafe-fixes" in complete("check", "--unsafe")
    assert complete("check", "--format", "sar") == {"sarif"}
    assert {"nvidia-h200", "nvidia-hopper"} <= complete("check", "--device", "nvidia-h")
    assert complete("explain", "CM20") == {"CM201"}


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals there")
def test_bash_still_completes_names_of_files(tmp_path: Path) -> None:
    """A completion that knows no files takes away what the shell did before."""
    pytest.importorskip("shtab")
    (tmp_path / "complete.sh").write_text(clmap("completion", "bash").stdout, encoding="utf-8")
    (tmp_path / "my kernels").mkdir()
    (tmp_path / "my kernels" / "convolution.cl").write_text("")
    typed = ["source complete.sh", "clmap-lsp check my\tconv\t; exit"]
    environment = {**os.environ, "PS1": "> ", "TERM": "dumb"}
    done = _typed(["bash", "--norc", "-i"], typed, tmp_path, environment)
    assert "my\\ kernels/convolution.cl" in done


def _typed(command: list[str], lines: list[str], folder: Path, environment: dict[str, str]) -> str:
    """Return what an interactive program prints while lines are typed at its terminal."""
    import pty
    import select
    import time

    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder)
        os.execvpe(command[0], command, environment)
    said = b""
    try:
        for line in [*lines, ""]:
            ends = time.monotonic() + 2
            while time.monotonic() < ends and select.select([terminal], [], [], 0.5)[0]:
                said += os.read(terminal, 4096)
            os.write(terminal, line.encode() + b"\n")
    except OSError:
        pass  # It has gone.
    finally:
        os.close(terminal)
        os.waitpid(child, 0)
    return said.decode(errors="replace")


@pytest.mark.parametrize("shell", ["zsh", "fish", "tcsh", "powershell"])
def test_scripts_for_other_shells_know_devices_and_rules(shell: str) -> None:
    shtab = pytest.importorskip("shtab")
    if shell not in shtab.SUPPORTED_SHELLS:
        pytest.skip(f"this shtab has no {shell}")
    script = clmap("completion", shell)
    assert script.returncode == 0, script.stderr
    assert "nvidia-hopper" in script.stdout
    assert "CM201" in script.stdout
    checker = shutil.which(shell) if shell in ("zsh", "fish") else None
    if checker is not None:
        done = subprocess.run(
            [checker, "-n"], input=script.stdout, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
