"""From LLVM IR to machine code in this process, with a cache of object code on disk.

Only this module touches LLVM's engine. Code is kept by the text of the IR, the LLVM version and the host's
CPU, so that a changed library or another machine never meets stale code.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
import stat
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from llvmlite import binding

from clmap_lsp.dataclass import dataclass
from clmap_lsp.emulator.memory_limit import with_room
from clmap_lsp.launch.problem import LaunchError
from clmap_lsp.reading import safe_read

_LOCK = threading.RLock()
_PIPELINE = 6
"""Raised whenever the passes change."""
_MISTRUSTED = frozenset({"gfni"})
"""Instructions with which LLVM makes wrong code: 22.1 shifts vectors of bytes right by one in place of zero
(`ashr <4 x i8>` by an amount that turns out to be 0 late) where it has `vgf2p8affineqb`."""
_COMPILING_MIB = 1024
"""LLVM ends its process where it gets no memory. What is compiled is bounded by its size: 440,000 characters
of loops in loops took 507 MB, most texts of that size a tenth."""
_LARGE_TEXT = 300_000
"""Characters of IR, about 7 500 instructions. Up to here the better code generator takes 1.5 s at most;
400,000 characters of loops in loops took 6.5 s."""
_HUGE_TEXT = 600_000
"""From here on variables stay in memory: the time to promote them and to give out registers grows with the
square of the text, and so many values that live at once have overrun the stack."""
_MANY_MERGES = 300_000
"""So with variables times blocks, which bounds the values that are merged where ways join: 125 loops in each
other (570,000) took 2.5 to 5 s in 470,000 to 600,000 characters, and take 0.05 s with variables in memory. No
kernel of `fixtures/` has more than 4,400."""


@dataclass(frozen=True, slots=True)
class Code:
    """Loaded machine code. It stays loaded as long as this object lives."""

    engine: Any
    addresses: Mapping[str, int]


def load(
    text: str,
    names: tuple[str, ...],
    optimisation: int,
    symbols: Mapping[str, int],
    make: Callable[[str], str] = str,
) -> Code:
    """Compile (or fetch from the cache) the IR `text` and return the addresses of its functions `names`.

    `optimisation` is 0 (fast to compile) to 3; `symbols` are addresses of external functions. With `make`,
    `text` is what the IR is made of, and that only where the cache has nothing.
    """
    with _LOCK, with_room(_COMPILING_MIB):
        for name, address in symbols.items():
            binding.add_symbol(name, address)
        machine = _machine(optimisation)
        key = hashlib.sha256(
            f"{_host_key()}\0{optimisation}\0{text}".encode("utf-8", "surrogatepass")
        ).hexdigest()
        data = _cached(key)
        if data is None:
            data = _object_code(make(text), optimisation)
            _keep(key, data)
        _check_resolved(data)
        engine = binding.create_mcjit_compiler(binding.parse_assembly(""), machine)
        engine.add_object_file(binding.object_file.ObjectFileRef.from_data(data))
        engine.finalize_object()
        return Code(engine, {name: engine.get_function_address(name) for name in names})


def is_huge(text: str) -> bool:
    """Tell whether only the quickest compilation is possible: optimising would take minutes."""
    return len(text) > _HUGE_TEXT or text.count(" = alloca ") * text.count(":\n") > _MANY_MERGES


def optimising_s(text: str) -> float:
    """Return about how many seconds level 1 takes: they grow with the square of the text."""
    return 0.5 * (len(text) / 100_000) ** 2


def _object_code(text: str, optimisation: int) -> bytes:
    module = binding.parse_assembly(text)
    # Level 0 promotes variables to registers and no more; its code generator is the quick one for large
    # functions only, where the better one would take seconds.
    is_large = len(text) > _LARGE_TEXT
    machine = _machine(optimisation if optimisation else int(not is_large))
    options = binding.create_pipeline_tuning_options(speed_level=optimisation)
    options.loop_vectorization = options.slp_vectorization = optimisation > 1
    builder = binding.create_pass_builder(machine, options)
    if optimisation == 0:
        passes = binding.create_new_module_pass_manager()
        if not is_huge(text):
            passes.add_sroa_pass()
        passes.add_simplify_cfg_pass()
    else:
        passes = builder.getModulePassManager()
    passes.run(module, builder)
    code: bytes = machine.emit_object(module)
    return code


_SUPPORT = re.compile(rb"\0_?(__[a-z]\w*)(?=\0)")
"""Names of the compiler's support library in an object's table of names."""


def _check_resolved(data: bytes) -> None:
    """Refuse code that calls what this process does not have: the engine would jump to address 0.

    Raises: LaunchError.
    """
    for name in sorted({it[1].decode() for it in _SUPPORT.finditer(data)}):
        if not binding.address_of_symbol(name):
            raise LaunchError(
                f"the kernel's arithmetic needs `{name}`, which this machine lacks",
                "run the emulator on another machine",
            )


@cache
def _initialise() -> tuple[str, str]:
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    features = binding.get_host_cpu_features()
    for feature in _MISTRUSTED & features.keys():
        features[feature] = False
    return binding.get_host_cpu_name(), features.flatten()


@cache
def _host_key() -> str:
    version = ".".join(map(str, binding.llvm_version_info))
    return f"{_PIPELINE}\0{version}\0{binding.get_process_triple()}\0" + "\0".join(_initialise())


def _machine(optimisation: int) -> Any:
    # A fresh one each time: an execution engine takes ownership of the machine it is given.
    name, features = _initialise()
    target = binding.Target.from_default_triple()
    return target.create_target_machine(
        cpu=name, features=features, opt=optimisation, jit=True, reloc="default", codemodel="jitdefault"
    )


# ------------------------------------------------------------------------------------------------- cache

_CACHE_BYTES = 64 << 20


@cache
def _cache_folder() -> Path | None:
    """Return the folder for object code; `None` where none can be made, or others could write to it.

    What lies there is machine code and is run, so that it counts only with a digest that takes a secret of
    the user's, which lies elsewhere: a cache that was restored, mounted or shared is as good as none.
    """
    import platformdirs

    folder = Path(platformdirs.user_cache_dir("clmap-lsp", appauthor=False)) / "object-code"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not _only_mine(folder) or _secret() is None:
            return None
    except OSError:
        return None
    _trim(folder)
    return folder


def _only_mine(path: Path) -> bool:
    """Tell whether nobody but this user and root can change a file or folder, or what leads to it."""
    if not hasattr(os, "getuid"):
        return True
    for step in (path, *path.parents):
        status = step.lstat()
        if stat.S_ISLNK(status.st_mode) or status.st_uid not in (os.getuid(), 0):
            return False
        others = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        if others and (step == path or not status.st_mode & stat.S_ISVTX):
            return False
    return True


@cache
def _secret() -> bytes | None:
    """Return the key of this user's digests, made at the first use; `None` where it cannot be kept safe."""
    import platformdirs

    path = Path(platformdirs.user_config_dir("clmap-lsp", appauthor=False)) / "object-code.key"
    with suppress(OSError):
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle, name = tempfile.mkstemp(dir=path.parent)
            with os.fdopen(handle, "wb") as file:
                file.write(secrets.token_bytes(32))
            try:
                os.link(name, path)  # Of two processes, the first makes it.
            except FileExistsError:
                pass
            finally:
                Path(name).unlink()
        if _only_mine(path):
            key = safe_read(path, limit=1024, within=None)
            return key if len(key) == 32 else None
    return None


def _digest(key: str, code: bytes) -> bytes:
    secret = _secret()
    assert secret is not None, "there is no folder without it"
    return hmac.digest(secret, key.encode() + b"\0" + code, "sha256")


def _trim(folder: Path) -> None:
    """Drop the least recently used files once the folder is too large."""
    with suppress(OSError):
        files = sorted(((it.stat().st_mtime, it.stat().st_size, it) for it in folder.iterdir()), reverse=True)
        total = 0
        for _, size, path in files:
            total += size
            if total > _CACHE_BYTES:
                path.unlink(missing_ok=True)


def _cached(key: str) -> bytes | None:
    folder = _cache_folder()
    if folder is None:
        return None
    path = folder / key
    try:
        data = safe_read(path, limit=_CACHE_BYTES, within=None)
        os.utime(path)
    except OSError:
        return None
    digest, code = data[:32], data[32:]
    return code if hmac.compare_digest(_digest(key, code), digest) else None


def _keep(key: str, code: bytes) -> None:
    folder = _cache_folder()
    if folder is None:
        return
    with suppress(OSError), _temporary(folder) as path:
        path.write_bytes(_digest(key, code) + code)
        path.replace(folder / key)


@contextmanager
def _temporary(folder: Path) -> Iterator[Path]:
    handle, name = tempfile.mkstemp(dir=folder)
    os.close(handle)
    path = Path(name)
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)
