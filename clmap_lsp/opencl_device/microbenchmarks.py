"""Microbenchmarks of time: each isolates one figure of a device that a model of run time needs.

A figure comes from how the time of one kernel changes with one number (stride, footprint, chains, groups).
What is measured here is raw: seconds of event time for each setting, medians and all;
`clmap_lsp.time.calibration` works the figures out. Needs NumPy and pyopencl only.

The list follows what GPU microbenchmark studies isolate: Wong et al., ISPASS 2010 (latencies by pointer
chasing); Jia et al., arXiv:1804.06826 (caches, banks, pipes); Volkov, UCB/EECS-2016-143 (bytes in flight).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, field
from typing import Any

import numpy as np

from clmap_lsp.dataclass import dataclass
from clmap_lsp.opencl_device.session import Session

RUNS = 30
_UNROLLED = 8


@dataclass(frozen=True, slots=True)
class Setting:
    """One kernel with one setting of its numbers."""

    name: str
    source: str
    global_size: int
    local_size: int
    buffer_bytes: tuple[int, ...] = ()
    scalars: tuple[int, ...] = ()
    numbers: Mapping[str, float] = field(default_factory=dict)
    """What varies, and how much work a launch is."""
    contents: str = ""
    """`cycle:BYTES` fills the first buffer with a random cycle through lines of 128 bytes."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One setting's times, seconds."""

    name: str
    numbers: Mapping[str, float]
    median: float
    runs: tuple[float, ...]

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return asdict(self)


def settings(units: int, memory_bytes: int, *, doubles: bool, small: bool = False) -> Iterator[Setting]:
    """Yield every setting for a device of so many compute units.

    `small` makes launches a hundred times shorter, for CPU devices.
    """
    yield from _overheads(units, small)
    largest = 1 << (memory_bytes // 8).bit_length() - 1
    yield from _bandwidth(min(1 << 30, largest), units, small)
    yield from _first_level(units, small)
    yield from _local(units, small)
    yield from _second_level(units, small)
    yield from _latencies(small, memory_bytes)
    yield from _pipes(units, small, doubles)
    yield from _barriers(units, small)
    yield from _atomics(units, small)
    yield from _stores(units, small)
    yield from _random(units, small, memory_bytes)


def _overheads(units: int, small: bool) -> Iterator[Setting]:
    source = "kernel void k(global float *o, int n) { if (n > 5) o[get_global_id(0)] = n; }"
    yield Setting("empty", source, 32, 32, (1 << 20,), (0,), {"groups": 1, "items": 32})
    for power in (8, 12, 14, 16, 18, 20):
        for local in (32, 64, 128, 256, 512, 1024):
            if power > (10 if small else 40) or (power == 20 and local > 128):
                continue
            numbers = {"groups": 1 << power, "items": local}
            yield Setting("groups", source, local << power, local, (1 << 20,), (0,), numbers)
    tail = """kernel void k(global float *o, int n) { float s = get_local_id(0);
        for (int k = 0; k < n; k++) s = s * 1.0001f + 0.5f; o[get_global_id(0)] = s; }"""
    turns = 2000 if small else 20000
    for groups in (1, units, units + 1, 2 * units, 2 * units + 1, 8 * units, 8 * units + 1):
        numbers = {"groups": groups, "turns": turns}
        yield Setting("tail", tail, groups * 1024, 1024, (4096 * groups,), (turns,), numbers)


def _bandwidth(size: int, units: int, small: bool) -> Iterator[Setting]:
    size = size // 8 if small else size
    copy = """kernel void k(global const float4 *a, global float4 *b) {
        size_t i = get_global_id(0); b[i] = a[i]; }"""
    yield Setting("dram_copy", copy, size // 16, 256, (size, size), (), {"bytes": 2 * size})
    total = """kernel void k(global const float4 *a, global float4 *b, int n) { float4 s = 0;
        for (int k = 0; k < 8; k++) s += a[(size_t)k * n + get_global_id(0)];
        if (s.x == 12345.678f) b[0] = s; }"""
    yield Setting("dram_read", total, size // 128, 256, (size, 4096), (size // 128,), {"bytes": size})
    write = "kernel void k(global float4 *b, int n) { b[get_global_id(0)] = (float4)(n); }"
    yield Setting("dram_write", write, size // 16, 256, (size,), (3,), {"bytes": size})
    for loads in (1, 2, 4, 8):
        body = " ".join(f"s{k} = a[((size_t)j * {loads} + {k}) * n + i];" for k in range(loads))
        names = ", ".join(f"s{k}" for k in range(loads))
        source = f"""kernel void k(global const float *a, global float *b, int n, int m) {{ float t = 0;
            size_t i = get_global_id(0); for (int j = 0; j < m; j++) {{ float {names}; {body}
            t += {" + ".join(f"s{k}" for k in range(loads))}; }} b[i] = t; }}"""
        items = units * 256
        turns = max(1, min(size, 1 << 28) // 4 // items // loads)
        for groups in (1, 4):
            many = max(turns // groups, 1)
            numbers = {"loads": loads, "groups": groups, "bytes": 4.0 * items * groups * many * loads}
            yield Setting(
                "in_flight",
                source,
                items * groups,
                256,
                (size, 4 * items * groups),
                (items * groups, many),
                numbers,
            )


def _first_level(units: int, small: bool) -> Iterator[Setting]:
    turns = 16 if small else 256
    for kind, width in (("float", 1), ("float2", 2), ("float4", 4)):
        zero = "0" if width > 1 else "0.0f"
        loads = " ".join(
            f"s{k} += a[(at + {k} * 32 / {width} * 4) & {2048 // width - 1}];" for k in range(_UNROLLED)
        )
        names = ", ".join(f"s{k} = {zero}" for k in range(_UNROLLED))
        sums = " + ".join(f"s{k}" for k in range(_UNROLLED))
        pick = ".x" if width > 1 else ""
        source = f"""kernel void k(global const {kind} *a, global float *b, int stride, int n) {{
            int l = get_local_id(0) & 31; {kind} {names}; int at = l * stride;
            for (int j = 0; j < n; j++) {{ {loads} at += {32 // width}; }}
            b[get_global_id(0)] = ({sums}){pick}; }}"""
        for stride in (0, 1, 2, 4, 8, 16, 32):
            if stride * width > 32:
                continue
            groups = units * 8
            requests = groups * 8 * turns * _UNROLLED
            numbers = {"width": width, "stride": stride, "requests": requests, "units": units}
            yield Setting(
                "l1_load", source, groups * 256, 256, (8192 * 4, groups * 1024), (stride, turns), numbers
            )


def _local(units: int, small: bool) -> Iterator[Setting]:
    turns = 16 if small else 256
    loads = " ".join(f"s{k} += t[(at + {k}) & 2047];" for k in range(_UNROLLED))
    both = " ".join(
        f"s{k} += t[(at + {k}) & 2047];" if k % 2 else f"s{k} += a[(at + {k} * 32) & 2047];"
        for k in range(_UNROLLED)
    )
    names = ", ".join(f"s{k} = 0" for k in range(_UNROLLED))
    sums = " + ".join(f"s{k}" for k in range(_UNROLLED))
    for name, body in (("local_load", loads), ("local_and_l1", both)):
        source = f"""kernel void k(global const float *a, global float *b, int stride, int n) {{
            local float t[2048]; for (int k = get_local_id(0); k < 2048; k += 256) t[k] = k;
            barrier(CLK_LOCAL_MEM_FENCE); int l = get_local_id(0) & 31; float {names}; int at = l * stride;
            for (int j = 0; j < n; j++) {{ {body} at += 32; }} b[get_global_id(0)] = {sums}; }}"""
        for stride in (1, 2, 4, 8, 16, 32):
            groups = units * 8
            numbers = {"stride": stride, "requests": groups * 8 * turns * _UNROLLED, "units": units}
            yield Setting(
                name, source, groups * 256, 256, (8192 * 4, groups * 1024), (stride, turns), numbers
            )


def _second_level(units: int, small: bool) -> Iterator[Setting]:
    source = """kernel void k(global const float4 *a, global float *b, uint mask, int n) {
        float4 s = 0; uint at = get_global_id(0);
        for (int j = 0; j < n; j++) { s += a[at & mask]; at += get_global_size(0) + 4096; }
        b[get_global_id(0)] = s.x + s.y + s.z + s.w; }"""
    for megabytes in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512):
        if small and megabytes > 64:
            continue
        items = units * (256 if small else 2048)
        turns = 16 if small else 128
        mask = (megabytes << 20) // 16 - 1
        numbers = {"footprint": float(megabytes << 20), "bytes": 16.0 * items * turns}
        yield Setting("l2_read", source, items, 256, (megabytes << 20, 4 * items), (mask, turns), numbers)


def _latencies(small: bool, memory_bytes: int) -> Iterator[Setting]:
    source = """kernel void k(global const int *a, global int *b, int n) { int at = 0;
        for (int j = 0; j < n; j++) at = a[at]; b[get_global_id(0)] = at; }"""
    for size in (16 << 10, 64 << 10, 1 << 20, 8 << 20, 24 << 20, 1 << 28, 1 << 30):
        if size > memory_bytes // 8 or (small and size > 1 << 28):
            continue
        turns = 2000 if small else 8000
        numbers = {"footprint": float(size), "turns": turns}
        yield Setting("chase", source, 1, 1, (size, 4096), (turns,), numbers, f"cycle:{size}")
    walk = """kernel void k(global const float *a, global float *b, int n) { float s = 0;
        for (int j = 0; j < n; j++) s += a[j]; b[get_global_id(0)] = s; }"""
    for warps in (1, 4, 16, 32):
        turns = 1024 if small else 16384
        numbers = {"warps": warps, "turns": turns}
        yield Setting(
            "uniform_walk", walk, 132 * 32 * warps, 32 * warps, (1 << 20, 1 << 22), (turns,), numbers
        )


_CHAINS = {
    "fma": ("float", "x = x * y + z;", 1),
    "add": ("float", "x = x + y;", 1),
    "imad": ("int", "x = x * y + z;", 1),
    "iadd": ("int", "x = (x + y) ^ z;", 2),
    "shift": ("uint", "x = (x >> 3) ^ y;", 2),
    "rsqrt": ("float", "x = native_rsqrt(x);", 1),
    "sin": ("float", "x = native_sin(x);", 1),
    "convert": ("float", "x = (float)(int)x;", 2),
    "dfma": ("double", "x = x * y + z;", 1),
    "division": ("float", "x = y / x;", 1),
    "idivision": ("uint", "x = z / (x | 1u);", 1),
}


def _pipes(units: int, small: bool, doubles: bool) -> Iterator[Setting]:
    turns = 64 if small else 512
    for name, (kind, step, operations) in _CHAINS.items():
        if kind == "double" and not doubles:
            continue
        for chains in (1, 4):
            variables = [f"x{k}" for k in range(chains)]
            body = " ".join(step.replace("x", it) for _ in range(8) for it in variables)
            start = " ".join(
                f"{kind} {it} = ({kind})(get_global_id(0) + {k});" for k, it in enumerate(variables)
            )
            source = f"""kernel void k(global {kind} *o, {kind} y, {kind} z, int n) {{ {start}
                for (int j = 0; j < n; j++) {{ {body} }} o[get_global_id(0)] = {" + ".join(variables)}; }}"""
            for warps in (1, 8, 32):
                groups = units * (1 if warps < 32 else 2)
                local = 32 * warps
                numbers: dict[str, float] = {
                    "chains": chains,
                    "warps": warps * (groups // units),
                    "operations": operations,
                    "steps": 8.0 * turns,
                    "units": units,
                }
                yield Setting(
                    f"chain_{name}",
                    source,
                    groups * local,
                    local,
                    (groups * local * 8,),
                    (2, 3, turns),
                    numbers,
                )


def _barriers(units: int, small: bool) -> Iterator[Setting]:
    source = """kernel void k(global float *o, int n) { local float t[2]; t[get_local_id(0) & 1] = n;
        for (int j = 0; j < n; j++) barrier(CLK_LOCAL_MEM_FENCE); o[get_global_id(0)] = t[0]; }"""
    turns = 20 if small else 2000
    for warps in (1, 4, 8, 16, 32):
        numbers = {"warps": warps, "turns": turns}
        items = units * 32 * warps
        yield Setting("barrier", source, items, 32 * warps, (4 * items,), (turns,), numbers)


def _atomics(units: int, small: bool) -> Iterator[Setting]:
    items = 1 << (14 if small else 20)
    for name, index in (
        ("uniform", "0"),
        ("same", "(get_local_id(0) >> 12)"),
        ("line", "(get_global_id(0) & mask)"),
        ("lines", "((get_global_id(0) & mask) * 32)"),
        ("hashed", "((get_global_id(0) * 2654435761u >> 8) & mask)"),
    ):
        source = f"""kernel void k(global int *o, uint mask) {{
            atomic_add(&o[{index}], (int)get_local_id(0) + 1); }}"""
        masks = (0,) if name in ("uniform", "same") else (1, 7, 31, 255, 4095, 65535, 1048575)
        for mask in masks:
            if name == "lines" and mask > 65535:
                continue
            numbers: dict[str, float] = {"addresses": mask + 1, "operations": items}
            yield Setting(f"atomic_{name}", source, items, 256, (1 << 24,), (mask,), numbers)
    for name, index in (("uniform", "0"), ("spread", "l"), ("hashed", "(l * 2654435761u >> 8) & 255")):
        source = f"""kernel void k(global int *o, int n) {{ local int t[1024]; uint l = get_local_id(0);
            t[l] = 0; barrier(CLK_LOCAL_MEM_FENCE);
            for (int j = 0; j < n; j++) atomic_add(&t[({index}) & 1023], (int)l + j);
            barrier(CLK_LOCAL_MEM_FENCE); o[get_global_id(0)] = t[l]; }}"""
        turns = 8 if small else 128
        numbers = {"operations": float(units * 8 * 256 * turns), "units": units}
        yield Setting(f"local_atomic_{name}", source, units * 2048, 256, (1 << 24,), (turns,), numbers)


def _stores(units: int, small: bool) -> Iterator[Setting]:
    source = """kernel void k(global float *o, uint stride, uint mask) {
        o[(get_global_id(0) * stride) & mask] = get_global_id(0); }"""
    items = 1 << (18 if small else 22)
    for stride in (1, 2, 4, 8, 16, 32):
        for megabytes in (8, 512):
            size = min(megabytes << 20, (64 << 20) if small else 1 << 30)
            numbers = {"stride": stride, "footprint": float(min(4 * items * stride, size)), "stores": items}
            yield Setting("store", source, items, 256, (size,), (stride, size // 4 - 1), numbers)


def _random(units: int, small: bool, memory_bytes: int) -> Iterator[Setting]:
    gather = """kernel void k(global const float *a, global float *b, uint mask, int n) {
        uint h = get_global_id(0) * 2654435761u + 12345u; float s = 0;
        for (int j = 0; j < n; j++) { h ^= h >> 15; h *= 0x2c1b3c6du; h ^= h >> 12; s += a[h & mask]; }
        b[get_global_id(0)] = s; }"""
    scatter = """kernel void k(global float *a, uint mask, int n) {
        uint h = get_global_id(0) * 2654435761u + 12345u;
        for (int j = 0; j < n; j++) { h ^= h >> 15; h *= 0x2c1b3c6du; h ^= h >> 12; a[h & mask] = j; } }"""
    items = units * (256 if small else 1024)
    turns = 8 if small else 32
    for megabytes in (1, 4, 16, 32, 64, 128, 512, 1024):
        size = megabytes << 20
        if size > memory_bytes // 8 or (small and megabytes > 128):
            continue
        numbers = {"footprint": float(size), "operations": float(items * turns)}
        yield Setting("gather", gather, items, 256, (size, 4 * items), (size // 4 - 1, turns), numbers)
        yield Setting("scatter", scatter, items, 256, (size,), (size // 4 - 1, turns), numbers)


def run(session: Session, chosen: list[Setting], *, runs: int = RUNS) -> list[Measured]:
    """Time every setting: once to warm up, then `runs` times, each after a launch of its own."""
    kernels: dict[str, Any] = {}
    buffers: dict[tuple[int, int, str], Any] = {}
    found = []
    for setting in chosen:
        if setting.source not in kernels:
            kernels[setting.source] = session.kernel(session.build(setting.source), "k")
        kernel = kernels[setting.source]
        arguments = [
            _buffer(session, buffers, n, size, setting) for n, size in enumerate(setting.buffer_bytes)
        ]
        arguments += _scalars(setting)
        session.set_arguments(kernel, *arguments)
        times = []
        for attempt in range(runs + 2):
            event = session.launch(kernel, (setting.global_size,), (setting.local_size,))
            session.finish()
            seconds = session.seconds(event)
            if attempt >= 2:
                times.append(seconds)
            if sum(times) > 0.4 and len(times) >= 7:
                break
        found.append(Measured(setting.name, setting.numbers, float(np.median(times)), tuple(times)))
    return found


def _scalars(setting: Setting) -> list[Any]:
    kinds = setting.source.split("(", 1)[1].split(")", 1)[0].split(",")[len(setting.buffer_bytes) :]
    names = {"int": np.int32, "uint": np.uint32, "float": np.float32, "double": np.float64}
    return [names[kind.split()[0]](value) for kind, value in zip(kinds, setting.scalars, strict=True)]


def _buffer(
    session: Session, kept: dict[tuple[int, int, str], Any], number: int, size: int, setting: Setting
) -> Any:
    contents = setting.contents if number == 0 else ""
    key = (number, size, contents)
    if key not in kept:
        if contents.startswith("cycle"):
            kept[key] = session.buffer_from(_cycle(size))
        else:
            kept[key] = session.buffer(size)
            session.fill(kept[key], 63, size)
    return kept[key]


def _cycle(size: int) -> Any:
    """Return words that lead through all lines of a buffer in random order, each word to the next line."""
    lines = size // 128
    order = np.random.default_rng(1).permutation(lines).astype(np.int64)
    words = np.zeros(size // 4, np.int32)
    words[order * 32] = np.roll(order, -1) * 32
    start = int(np.flatnonzero(order == 0)[0])
    assert words[order[start] * 32] == np.roll(order, -1)[start] * 32
    return words
