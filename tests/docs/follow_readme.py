"""Follows the README word for word with what a user would get: `follow_readme.py WHEEL [PYTHON…]`.

For each interpreter `make demo` runs in a copy of the tracked files; the commands of "Install" run through
pipx in a fresh home, with the wheel as the only thing that is not from the package index; after each, the
console blocks run in a shell, with the kernels of the repository beside them, and must print what the page
shows; and the `clmap.toml` and the kernel of the page must give one launch. `make test`, the line beside
`make demo`, is left to CI. The last line says which Pythons ran.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from doc_examples import ROOT, examples, matches, steps

README = ROOT / "README.md"
_LIMIT_S = 600
_MOST_BYTES = 110_000_000


def _blocks(language: str) -> Iterator[str]:
    return (it.text for it in examples(language) if it.page == README)


def _shell(command: str, folder: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=_LIMIT_S,
    )


def _must(command: str, folder: Path, env: dict[str, str]) -> str:
    done = _shell(command, folder, env)
    if done.returncode:
        raise SystemExit(f"$ {command}\nexits with {done.returncode}:\n{done.stdout}")
    return done.stdout


def _commands(marker: str) -> list[str]:
    """Return the lines of the shell block that has `marker`."""
    block = next(it for it in _blocks("sh") if marker in it)
    return [it for it in block.splitlines() if it.strip()]


def follow(wheel: Path, python: str, folder: Path) -> str:
    """Do what the README says with one interpreter; returns its version."""
    venv = folder / "pipx-itself"
    _must(f"{shlex.quote(python)} -m venv {venv} && {venv}/bin/pip install -q pipx", folder, dict(os.environ))
    env = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("PIPX", "VIRTUAL_ENV"))},
        "PATH": f"{folder}/bin:{venv}/bin:{os.environ['PATH']}",
        "PIPX_HOME": str(folder / "pipx"),
        "PIPX_BIN_DIR": str(folder / "bin"),
        "PIPX_DEFAULT_PYTHON": str(venv / "bin" / "python"),
        "PIP_FIND_LINKS": f"{wheel.parent.as_uri()} {os.environ.get('PIP_FIND_LINKS', '')}".strip(),
        "NO_COLOR": "1",
        "COLUMNS": "100",
        "PYTHONSAFEPATH": "1",
    }
    env.pop("PYTHONPATH", None)
    _demo(folder, python, env)
    (folder / "fixtures").symlink_to(ROOT / "fixtures", target_is_directory=True)
    for line in _commands("pipx install"):
        _must(line, folder, env)
        _consoles(folder, env)
        _launch(folder, env)
        if line.startswith("pipx install clmap-lsp "):
            _small(folder / "pipx" / "venvs" / "clmap-lsp")
        _must("pipx uninstall clmap-lsp", folder, env)
    return _must(f"{venv}/bin/python -V", folder, env).strip()


def _demo(folder: Path, python: str, env: dict[str, str]) -> None:
    clone = folder / "clone"
    _must(f"git clone --quiet {ROOT} {clone}", folder, env)
    demo = next(it for it in _commands("make demo") if it.startswith("make demo"))
    said = _must(demo, clone, {**env, "PYTHON": python})
    assert re.search(r"^\d+\s+CM104 ", said, re.MULTILINE), said


def _small(venv: Path) -> None:
    """The checker alone has no LLVM, and stays small."""
    size = sum(it.lstat().st_size for it in venv.rglob("*") if it.is_file())
    print(f"the checker alone: {size / 1e6:.1f} MB", flush=True)
    assert size < _MOST_BYTES, size


def _consoles(folder: Path, env: dict[str, str]) -> None:
    for it in examples("console"):
        if it.page == README:
            for command, expected in steps(it):
                actual = _shell(command, folder, env).stdout
                if not matches(expected, actual):
                    raise SystemExit(f"$ {command}\nREADME shows:\n{expected}\nit prints:\n{actual}")


def _launch(folder: Path, env: dict[str, str]) -> None:
    """The kernel of the page is launched as its comment says, and without that as `clmap.toml` says."""
    kernel = next(it for it in _blocks("c") if "__kernel" in it)
    config = next(_blocks("toml"))
    launches = set()
    for name, text in (("comment", kernel), ("configured", re.sub(r"^// clmap:.*\n", "", kernel))):
        (folder / name).mkdir(exist_ok=True)
        (folder / name / "scale.cl").write_text(text, encoding="utf-8")
        if name == "configured":
            (folder / name / "clmap.toml").write_text(config, encoding="utf-8")
        out = _must("clmap-lsp analyze scale.cl", folder / name, env)
        launches.add(re.search(r"launch: (.*) \(", out)[1])  # type: ignore[index]
    assert launches == {"1024x1024 in groups of 32x8, N=1024"}, launches


def _shown_elsewhere(wheel: Path) -> None:
    """What PyPI shows of the README has no link that holds in the repository only."""
    with zipfile.ZipFile(wheel) as file:
        name = next(it for it in file.namelist() if it.endswith(".dist-info/METADATA"))
        description = file.read(name).decode()
    assert "# clmap-lsp" in description
    dead = re.findall(r"\]\((?!https://|#)[^)\s]+\)", description)
    assert not dead, dead


def main(wheel: str, *pythons: str) -> None:
    """Follow the page with every interpreter."""
    _shown_elsewhere(Path(wheel))
    done = []
    for python in pythons or (sys.executable,):
        with tempfile.TemporaryDirectory(prefix="clmap-readme-") as folder:
            done.append(follow(Path(wheel).resolve(), python, Path(folder)))
            print(f"{done[-1]}: README followed", flush=True)
    print(f"README followed word for word with {', '.join(done)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
