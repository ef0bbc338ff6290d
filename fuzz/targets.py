"""What is fuzzed. A target gets one input and returns; whatever it raises is a fault of ours."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fuzz import corpus
from fuzz.mutate import mutated, mutated_bytes
from fuzz.slowness import slowness

if TYPE_CHECKING:
    from tree_sitter import Tree


@dataclass(frozen=True, slots=True)
class Driver:
    """One thing to fuzz: how inputs are made, and what takes them."""

    name: str
    make: Callable[[random.Random], bytes]
    target: Callable[[bytes], None]
    readings: int = 1
    """How often the target reads its input: as it is, edited, afresh. Each has the time that one may take."""


class InternalError(AssertionError):
    """Something was caught and reported as an error of the tool: caught, but a fault all the same."""


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _preprocessor(data: bytes) -> None:
    from clmap_lsp.source.options import BuildOptions
    from clmap_lsp.source.preprocess import preprocess

    text = _text(data)
    halves = {"other.h": text[len(text) // 2 :]}
    options = BuildOptions(defines=(("N", "8"), ("F(x)", "x##x")))
    preprocess(f'#include "other.h"\n{text}', "k.cl", options, halves.get)


def _parser(data: bytes) -> None:
    from clmap_lsp.source.options import BuildOptions
    from clmap_lsp.source.parse import parse

    text = _text(data)
    before = parse(text, "k.cl", BuildOptions())
    middle = len(text) // 2
    edited = text[:middle] + text[middle + 1 :]
    after = parse(edited, "k.cl", BuildOptions(), previous=before)
    fresh = parse(edited, "k.cl", BuildOptions())
    if list(_nodes(after.tree)) != list(_nodes(fresh.tree)):
        raise InternalError("parsing with an earlier tree gives another tree")


def _nodes(tree: Tree) -> Iterator[tuple[str, int]]:
    """Yield kind and depth of every node, without recursion: deep trees end the library's own printing."""
    cursor, depth = tree.walk(), 0
    while True:
        node = cursor.node
        assert node is not None
        yield node.type, depth
        if cursor.goto_first_child():
            depth += 1
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return
            depth -= 1


def _lowering(data: bytes) -> None:
    from clmap_lsp.source.read import read_program

    text = _text(data)
    program = read_program(text, "k.cl")
    _no_internal_errors(program)
    middle = len(text) // 2
    _no_internal_errors(read_program(text[:middle] + ";" + text[middle:], "k.cl", previous=program.cache))


def _no_internal_errors(program: object) -> None:
    for problem in program.problems:  # type: ignore[attr-defined]
        if problem.code == "internal-error":
            raise InternalError(problem.message)


def _analyser(data: bytes) -> None:
    from clmap_lsp.analysis.session import AnalysisSession
    from clmap_lsp.devices import load_model
    from clmap_lsp.rules.context import RuleContext
    from clmap_lsp.rules.runner import run
    from clmap_lsp.rules.selection import Selection
    from clmap_lsp.source.read import read_program

    program = read_program(_text(data), "k.cl")
    _no_internal_errors(program)
    analysis = AnalysisSession().analyse(program, load_model("nvidia-hopper"))
    run(RuleContext(program, analysis), Selection.of(("ALL",)))


ANSWER_S = 2.0
"""Processor seconds within which a document that an editor opens has its diagnostics."""


def _opening(data: bytes) -> None:
    """Whole documents as the server takes them: errors, analysis, findings; and again after an edit."""
    from clmap_lsp.config import Settings
    from clmap_lsp.rules.selection import Selection
    from clmap_lsp.workbench import Workbench

    text, workbench = _text(data), Workbench(remembers=True)
    middle = len(text) // 2
    for version in (text, text[:middle] + " " + text[middle:]):
        before = time.process_time()
        opened = workbench.open_text("k.cl", version, Settings(), looks_beside=False)
        _no_internal_errors(opened.program)
        opened.findings(Selection.of(("ALL",)))
        used = time.process_time() - before
        if used > ANSWER_S and used > ANSWER_S * slowness():
            raise InternalError(f"not answered within {ANSWER_S:g} s of processor time")


def _jit(data: bytes) -> None:
    _run(_text(data), seconds=0.2)


def _run(text: str, seconds: float) -> None:
    from clmap_lsp.devices import load_model
    from clmap_lsp.emulator.result import Engine
    from clmap_lsp.emulator.run import emulate
    from clmap_lsp.emulator.settings import EmulationSettings
    from clmap_lsp.launch.problem import LaunchError, LaunchProblem
    from clmap_lsp.launch.resolve import resolve
    from clmap_lsp.source.read import read_program

    program = read_program(text, "k.cl")
    settings = EmulationSettings(
        engine=Engine.JIT,
        time_limit_s=seconds,
        memory_limit_mib=128,
        max_steps=200_000,
        device=load_model("nvidia-hopper"),
    )
    for kernel in program.kernels[:2]:
        launch = resolve(program, kernel)
        if isinstance(launch, LaunchProblem) or launch.work_items > 1 << 16:
            continue
        try:
            emulate(program, kernel, launch, settings)
        except LaunchError:
            continue


def _diverged(data: bytes) -> None:
    """A whole work-group of 256 to 1,024 lanes, each with accesses that no other makes at the same time."""
    _run(_text(data), seconds=1.0)


def _diverging_kernel(rng: random.Random) -> bytes:
    items = rng.choice((256, 320, 512, 777, 1024))
    reads, rounds = rng.randrange(1, 120), rng.randrange(1, 4)
    lines = [
        f"// clmap: global={items * rng.choice((1, 2))} local={items} a=random(65536) o=zeros({2 * items})"
    ]
    lines += [
        "__kernel void k(__global uchar *a, __global uint *o) {",
        "int l = get_local_id(0); uint s = 0;",
    ]
    for _ in range(rounds):
        order = rng.choice(("t == l", f"t == {items} - 1 - l", "t % 7 == l % 7", "(t ^ l) == 5", "t <= l"))
        lines.append(f"for (int t = 0; t < {rng.choice((items, 40, 7))}; t++) if ({order}) {{")
        lines.append(f"uint x = l * {rng.randrange(1 << 32)}u + t;")
        access = f"x = x * 1664525u + {rng.randrange(1 << 32)}u; s += a[x >> {rng.choice((16, 20, 24))}];"
        lines += [rng.choice((access, f"if ((x >> 24) < {rng.randrange(256)}) {{ {access} }}"))] * reads
        lines.append(rng.choice(("}", "} barrier(CLK_LOCAL_MEM_FENCE);", "break; }")))
    return "\n".join([*lines, "o[get_global_id(0)] = s; }"]).encode()


def _framing(data: bytes) -> None:
    asyncio.run(_session(data))


async def _session(data: bytes) -> None:
    from clmap_lsp.server.app import ClmapServer
    from clmap_lsp.server.protocol import ClmapProtocol
    from clmap_lsp.server.wire import Garbage, read_bodies

    pygls_log = logging.getLogger("pygls")
    pygls_log.handlers, pygls_log.propagate = [logging.NullHandler()], False
    server = ClmapServer()
    protocol = server.protocol
    assert isinstance(protocol, ClmapProtocol)
    protocol.set_writer(_Nowhere())
    reader = asyncio.StreamReader(limit=2**20)
    reader.feed_data(data)
    reader.feed_eof()
    with _FailureLog():
        async for body in read_bodies(reader):
            if isinstance(body, Garbage):
                protocol.refuse(None, -32700, body.reason)
            else:
                protocol.receive(body)
        await asyncio.sleep(0)
    await server.close()


class _Nowhere:
    def write(self, data: bytes) -> None:
        pass

    def close(self) -> None:
        pass


class _FailureLog(logging.Handler):
    """Raises what the protocol logs as a failed handler."""

    def __enter__(self) -> None:
        self.setLevel(logging.ERROR)
        logging.getLogger("clmap_lsp.server").addHandler(self)

    def __exit__(self, *_: object) -> None:
        logging.getLogger("clmap_lsp.server").removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        cause = record.exc_info[1] if record.exc_info else None
        raise InternalError(record.getMessage()) from cause


_SIM_KERNEL = (
    "__kernel void k(__global float *a, __global uint *b, int n) { b[get_global_id(0)] = (uint)a[n]; }\n"
)


def _sim(data: bytes) -> None:
    from clmap_lsp.emulator.result import Engine
    from clmap_lsp.emulator.run import emulate
    from clmap_lsp.emulator.settings import EmulationSettings
    from clmap_lsp.launch.problem import LaunchError, LaunchProblem
    from clmap_lsp.launch.resolve import resolve
    from clmap_lsp.launch.sim import bind, read_sim
    from clmap_lsp.source.read import read_program

    sim = read_sim(_text(data), "k.sim")
    if isinstance(sim, LaunchProblem):
        return
    program = read_program(_SIM_KERNEL, "k.cl")
    bound = bind(sim, program.kernels[0])
    if isinstance(bound, LaunchProblem):
        return
    launch = resolve(program, program.kernels[0], given=bound.launch)
    if isinstance(launch, LaunchProblem) or launch.work_items > 4096:
        return
    limits = EmulationSettings(engine=Engine.JIT, time_limit_s=0.2, memory_limit_mib=64, trace=False)
    try:
        emulate(program, program.kernels[0], launch, limits)
    except LaunchError:
        return


def _arguments(data: bytes) -> None:
    """Argument texts of the command line and of launch comments, which the resolver reads both ways."""
    from clmap_lsp.launch.arguments import parse_argument
    from clmap_lsp.launch.problem import LaunchError
    from clmap_lsp.launch.resolve import resolve
    from clmap_lsp.source.read import read_program

    text = _text(data)
    try:
        parse_argument(text, {"N": 64})
    except LaunchError as error:
        if "\n" in str(error).strip() and "\n" not in text:
            raise InternalError("an error message of several lines") from error
    line = " ".join(text.split())
    program = read_program(f"// clmap: {line}\n// clmap: a={line}\n{_SIM_KERNEL}", "k.cl")
    for kernel in program.kernels:
        resolve(program, kernel)


def _toml(data: bytes) -> None:
    from clmap_lsp.config.load import ConfigError, parse

    try:
        settings = parse("clmap.toml", _text(data), devices=("nvidia-hopper",), rules=("CM101", "CM102"))
    except ConfigError as error:
        str(error)
        return
    settings.excludes("a/b.cl")


def _hosts(data: bytes) -> None:
    """Host programs, C++ or Python, which are run from `main` for what they launch."""
    from clmap_lsp.hosts.launches import launches_of
    from clmap_lsp.hosts.project import read_project

    text = _text(data)
    name = "main.py" if "pyopencl" in text else "main.cpp"
    files = {"/w/k.cl": _HOST_KERNELS, f"/w/{name}": text}
    launches_of(read_project(files, files.get))


_HOST_KERNELS = """\
__kernel void k(__global float *a, int n) { if (get_global_id(0) < n) a[get_global_id(0)] = n; }
__kernel void add(__global float *x, __global float *y, __local float *t, int n, int m) { y[n * m] = x[n]; }
"""


def _texts(name: str, seeds: Callable[[], Sequence[str]]) -> Callable[[random.Random], bytes]:
    def make(rng: random.Random) -> bytes:
        return mutated(rng, (*seeds(), *corpus.grown(name))).encode("utf-8", "surrogatepass")

    return make


def _messages(rng: random.Random) -> bytes:
    return mutated_bytes(rng, corpus.messages())


DRIVERS = {
    it.name: it
    for it in (
        Driver("preprocessor", _texts("preprocessor", corpus.kernels), _preprocessor),
        Driver("parser", _texts("parser", corpus.kernels), _parser, readings=3),
        Driver("lowering", _texts("lowering", corpus.kernels), _lowering, readings=2),
        Driver("analyser", _texts("analyser", corpus.kernels), _analyser),
        Driver("opening", _texts("opening", corpus.kernels), _opening),
        Driver("jit", _texts("jit", corpus.short_kernels), _jit),
        Driver("diverged", _diverging_kernel, _diverged),
        Driver("framing", _messages, _framing),
        Driver("sim", _texts("sim", corpus.sims), _sim),
        Driver("arguments", _texts("arguments", corpus.arguments), _arguments),
        Driver("toml", _texts("toml", corpus.tomls), _toml),
        Driver("hosts", _texts("hosts", corpus.hosts), _hosts),
    )
}
