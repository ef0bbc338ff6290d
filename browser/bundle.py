"""Builds what the docs' page "Try it in the browser" loads: Pyodide, NumPy, tree-sitter and clmap-lsp.

    python browser/bundle.py FOLDER          needs npm, clang, wasm-ld and wasi-libc

Pyodide comes from npm. tree-sitter and its C grammar are compiled here from their sources on PyPI, in the
versions of requirements-dev.lock: Pyodide has an older one, without that grammar. NumPy is Pyodide's own,
whose checksum Pyodide's lock file holds; clmap-lsp is the wheel that users install.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import urllib.request
import zipfile
from collections.abc import Sequence
from http.client import HTTPException
from pathlib import Path
from typing import Any

from clmap_lsp.devices import list_models

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PYODIDE = "0.29.0"
PYODIDE_LOADS = (
    "pyodide.mjs", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json",
)  # fmt: skip
OWN = ("page.css", "page.mjs", "session.py", "show.mjs", "worker.mjs")
# NumPy for Pyodide is on Pyodide's own server only. Where that cannot be reached, the same bytes are in a
# package of PyPI that runs in Pyodide too; the checksum decides in either case.
PYODIDE_SERVER = f"https://cdn.jsdelivr.net/pyodide/v{PYODIDE}/full/"
HOLDS_NUMPY = ("gbdraw==0.14.2", "gbdraw/web/vendor/pyodide-wheels/")
EXAMPLES = (
    "matmul/simple", "transpose/tiled", "matvec/by_row_and_column", "particles/layouts", "stencil/five_point",
    "sparse/spmv_csr",
)  # fmt: skip

_COMPILE = (
    "--target=wasm32-unknown-emscripten", "-nostdlibinc", "-isystem", "/usr/include/wasm32-wasi",
    "-D__wasi__", "-Os", "-fPIC", "-fvisibility=hidden", "-std=c11",
    "-Werror=implicit-function-declaration", "-Wno-incompatible-pointer-types", "-DNDEBUG",
    "-D_DEFAULT_SOURCE", "-DPY_SSIZE_T_CLEAN", "-DPy_LIMITED_API=0x030B0000", "-DTREE_SITTER_HIDE_SYMBOLS",
)  # fmt: skip
"""C for Emscripten, whose headers wasi-libc's stand for: the same C library, and of it what all have."""
_LINK = ("-shared", "--experimental-pic", "--allow-undefined", "--export=PyInit__binding", "--strip-all")


def build(folder: Path) -> None:
    """Fill a folder with all that the page loads, and a manifest. It is replaced once all is there."""
    with tempfile.TemporaryDirectory(prefix="clmap-browser-") as name:
        work = Path(name)
        target = work / "made"
        target.mkdir()
        lock = copy_pyodide(work, target)
        wheels = [numpy(work, target, folder, lock["packages"]["numpy"])]
        wheels += compile_tree_sitter(work, target)
        wheels += [platformdirs(target), clmap(work, target)]
        for own in OWN:
            shutil.copy(HERE / own, target)
        choices = {
            "examples": {it: (ROOT / "fixtures" / f"{it}.cl").read_text(encoding="utf-8") for it in EXAMPLES},
            "devices": [{"id": it.id, "name": it.name} for it in list_models()],
        }
        (target / "choices.json").write_text(json.dumps(choices), encoding="utf-8")
        write_manifest(target, wheels)
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(target, folder)


def copy_pyodide(work: Path, target: Path) -> Any:
    """Copy Pyodide's files from its npm package. Returns its lock file: packages with checksums."""
    run("npm", "install", "--prefix", work, "--no-audit", "--no-fund", "--silent", f"pyodide@{PYODIDE}")
    for it in PYODIDE_LOADS:
        shutil.copy(work / "node_modules" / "pyodide" / it, target)
    return json.loads((target / "pyodide-lock.json").read_text(encoding="utf-8"))


def numpy(work: Path, target: Path, before: Path, package: dict[str, Any]) -> str:
    """Fetch Pyodide's NumPy wheel, or take the one of the build before. Returns its name."""
    name = package["file_name"]
    for source, folder in ((_kept, before), (_from_server, work), (_from_pypi, work)):
        data = source(folder, name)
        if data is not None and hashlib.sha256(data).hexdigest() == package["sha256"]:
            (target / name).write_bytes(data)
            return str(name)
    raise SystemExit(f"{name}: neither Pyodide's server nor PyPI gave the file with the checksum of its lock")


def _kept(before: Path, name: str) -> bytes | None:
    return (before / name).read_bytes() if (before / name).is_file() else None


def _from_server(_: Path, name: str) -> bytes | None:
    try:
        with urllib.request.urlopen(PYODIDE_SERVER + name, timeout=20) as answer:
            return bytes(answer.read())
    except (OSError, HTTPException):
        return None


def _from_pypi(work: Path, name: str) -> bytes:
    package, folder = HOLDS_NUMPY
    pip("download", "--no-deps", "--dest", work / "numpy", package)
    with zipfile.ZipFile(next((work / "numpy").glob("*.whl"))) as wheel:
        return wheel.read(folder + name)


def compile_tree_sitter(work: Path, target: Path) -> list[str]:
    """Compile tree-sitter and its C grammar for Pyodide. Returns the names of their wheels."""
    headers = work / "python"
    shutil.copytree(sysconfig.get_paths()["include"], headers)
    shutil.copy(HERE / "c" / "pyconfig.h", headers)  # Python.h takes the one beside itself first.
    sources = work / "sources"
    names = [pinned(it) for it in ("tree-sitter", "tree-sitter-c")]
    pip("download", "--no-deps", "--no-binary", ":all:", "--dest", sources, *names)
    for it in sources.glob("*.tar.gz"):
        with tarfile.open(it) as archive:
            archive.extractall(sources, filter="data")
    core, grammar = (next(sources.glob(it)) for it in ("tree_sitter-*/", "tree_sitter_c-*/"))
    binding = core / "tree_sitter" / "binding"
    library = core / "tree_sitter" / "core" / "lib"
    version = core.name.rpartition("-")[2]
    core_objects = [
        *("-include", HERE / "c" / "limited_api.h", f'-DPY_TS_VERSION="{version}"'),
        *("-I", binding, "-I", library / "include", "-I", library / "src"),
        *sorted(binding.glob("*.c")),
        library / "src" / "lib.c",
    ]
    bindings = grammar / "bindings" / "python" / "tree_sitter_c"
    grammar_objects = ["-I", grammar / "src", bindings / "binding.c", *sorted((grammar / "src").glob("*.c"))]
    return [
        write_wheel(target, core, core / "tree_sitter", shared(target, work / "core", headers, core_objects)),
        write_wheel(target, grammar, bindings, shared(target, work / "grammar", headers, grammar_objects)),
    ]


def shared(target: Path, work: Path, headers: Path, arguments: Sequence[object]) -> Path:
    """Compile and link one extension module as a side module of Pyodide."""
    work.mkdir()
    run(tool("clang"), *_COMPILE, "-I", headers, "-c", *arguments, cwd=work)
    made = work / "_binding.abi3.so"
    run(tool("wasm-ld"), *_LINK, *sorted(work.glob("*.o")), "-o", made)
    run("node", HERE / "imports.mjs", target / "pyodide.asm.wasm", made)
    return made


def write_wheel(target: Path, source: Path, package: Path, module: Path) -> str:
    """Write a wheel of a package's Python files, its compiled module and metadata. Returns its name."""
    distribution, _, version = source.name.rpartition("-")
    tag = "cp311-abi3-pyodide_2025_0_wasm32"
    name = f"{distribution}-{version}-{tag}.whl"
    info = f"{distribution}-{version}.dist-info"
    with zipfile.ZipFile(target / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for it in sorted(package.glob("*.py")):
            wheel.write(it, f"{package.name}/{it.name}")
        wheel.write(module, f"{package.name}/{module.name}")
        wheel.write(source / "PKG-INFO", f"{info}/METADATA")
        wheel.write(source / "LICENSE", f"{info}/licenses/LICENSE")
        wheel.writestr(f"{info}/WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: {tag}\n")
    return name


def platformdirs(target: Path) -> str:
    """Fetch the one package of pure Python that checks need. Returns its wheel's name."""
    pip("download", "--no-deps", "--only-binary", ":all:", "--dest", target, pinned("platformdirs"))
    return next(target.glob("platformdirs-*.whl")).name


def clmap(work: Path, target: Path) -> str:
    """Build clmap-lsp's wheel as a release does. Returns its name."""
    folder = work / "dist"
    pip("wheel", "--no-deps", "--wheel-dir", folder, ROOT)
    made = next(folder.glob("*.whl"))
    shutil.copy(made, target)
    return made.name


def write_manifest(target: Path, wheels: list[str]) -> None:
    """Write what the page loads: wheels in their order, and bytes, also as servers compress them."""
    loaded = [*PYODIDE_LOADS, *OWN, "choices.json", *wheels]
    data = [(target / it).read_bytes() for it in loaded]
    plain = sum(map(len, data))
    compressed = sum(min(len(it), len(gzip.compress(it, 6))) for it in data)
    manifest = {"pyodide": PYODIDE, "wheels": wheels, "bytes": plain, "compressedBytes": compressed}
    (target / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    print(f"browser: {plain / 1e6:.1f} MB to load, {compressed / 1e6:.1f} MB as servers compress them")


def pinned(package: str) -> str:
    """Return the requirement of a package as the lock file of the development environment has it."""
    lock = (ROOT / "requirements-dev.lock").read_text(encoding="utf-8")
    found = re.search(rf"^{package}==([^ ;\\]+)", lock, re.M)
    if found is None:
        raise SystemExit(f"requirements-dev.lock has no {package}")
    return f"{package}=={found[1]}"


def tool(name: str) -> str:
    """Return the newest program of a name, which Debian spells with its version."""
    candidates = [name, *(f"{name}-{it}" for it in range(30, 13, -1))]
    found = next((it for it in candidates if shutil.which(it)), None)
    if found is None:
        raise SystemExit(f"no {name}: apt-get install clang lld wasi-libc")
    return found


def pip(*arguments: object) -> None:
    """Run pip of this Python."""
    run(sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments)


def run(*command: object, cwd: Path | None = None) -> None:
    """Run a program. What it prints is shown where it fails."""
    done = subprocess.run([str(it) for it in command], cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{command[0]} failed:\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    build(parser.parse_args().folder)
