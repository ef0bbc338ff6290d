"""What is ready to be submitted to registries of editors names this version."""

from pathlib import Path

from clmap_lsp.version import __version__

NVIM = Path(__file__).parents[2] / "editors" / "nvim"


def test_the_mason_entry_installs_this_version():
    assert f"id: pkg:pypi/clmap-lsp@{__version__}?extra=emulate" in (NVIM / "mason/package.yaml").read_text()
