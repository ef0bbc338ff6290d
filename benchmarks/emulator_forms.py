"""Random kernels of odd forms, in the emulator and on PoCL, byte by byte.

    python -m benchmarks.emulator_forms [--programs 100] [--seed 0] [--only FORM ...]

Forms are those that `emulator_random` does not make: conversions with saturation and rounding, halves in
memory, shuffles, swizzles, vectors of three, components, structures by value and in local memory, copies with
strides, atomics whose results count, `switch` that falls through in loops with barriers, pointers that leave
their array and come back, images with samplers. Each kernel has six of them, each with results of its own, so
that a difference is named by its form. Kernels run untraced and traced; PoCL builds with `-cl-opt-disable`.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.odd_forms import FORMS, GROUP
from clmap_lsp.emulator.result import Engine
from clmap_lsp.emulator.run import emulate
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.launch.arguments import parse_argument
from clmap_lsp.launch.model import Launch
from clmap_lsp.source.read import read_program

ITEMS, FORMS_EACH, KERNELS = 64, 6, 4
_SIDES = {"1": (8,), "2": (8, 8), "a": (8, 8, 8), "3": (8, 8, 8)}
_IMAGE_TYPES = {"1": "image1d_t", "2": "image2d_t", "a": "image2d_array_t", "3": "image3d_t"}
_NUMPY = {"f": np.float32, "i": np.int32, "ui": np.uint32}
_IMAGES = [(shape, kind) for shape in _SIDES for kind in _NUMPY]
_TRICKY = (
    *(0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 1e-40, -1e-45, 3e38, np.inf, -np.inf, np.nan, 65504.0, 65520.0),
    *(6e-8, 5.96e-8, 2.98e-8, 127.5, 128.5, 255.5, -128.5, 2147483648.0, -2147483648.0, 4294967296.0),
    *(9.223372e18, 1.8446744e19, 32767.5, 65535.5, 0.49999997, 8388609.0, 1.0009765),
)

Arrays = dict[str, np.ndarray[Any, Any]]


class Kernel:
    """Some forms in a row, each with a result of its own."""

    def __init__(self, rng: random.Random, name: str, chosen: Sequence[str]) -> None:
        self.name = name
        self.forms = [rng.choice(chosen) for _ in range(FORMS_EACH)]
        made = [FORMS[it](rng, f"{name}_{number}") for number, it in enumerate(self.forms)]
        self.before = "".join(it for it, _ in made)
        self.bodies = [it for _, it in made]
        self.images = [it for it in _IMAGES if any(f"im{it[0]}{it[1]}," in body for body in self.bodies)]

    def text(self) -> str:
        """Return the kernel with what it needs."""
        declared, lines = [], []
        for number, body in enumerate(self.bodies):
            local, rest = _apart(body, number)
            declared += local
            lines += [
                f"{{ ulong r = 0; {rest} out[i * {FORMS_EACH} + {number}] = r; }}",
                f"v = v * 6364136223846793005UL + {number + 1}; w ^= v >> 7;",
            ]
        images = "".join(
            f", __read_only {_IMAGE_TYPES[shape]} im{shape}{kind}" for shape, kind in self.images
        )
        start = f"uint i = get_global_id(0), l = get_local_id(0); ulong v = in[i], w = in[i + {ITEMS}];"
        body = "\n  ".join([*declared, start, *lines])
        return (
            f"{self.before}__kernel void {self.name}(__global const ulong *in, __global const float *fin,\n"
            f"    __global ulong *out{images}) {{\n  {body}\n}}\n"
        )


def _apart(body: str, number: int) -> tuple[list[str], str]:
    """Return the local variables, to stand at the kernel's start under names of their own, and the rest."""
    declared = []
    for found in re.findall(r"__local \w+ [\w\[\], ]+\];", body):
        body, named = body.replace(found, "", 1), found
        for name in re.findall(r"(\w+)\[", found):
            named = re.sub(rf"\b{name}\b(?=\[)", f"{name}_{number}", named, count=1)
            body = re.sub(rf"(?<![.\w>]){name}\b(?!\()", f"{name}_{number}", body)
        declared.append(named)
    return declared, body


def contents(seed: int) -> Arrays:
    """Return the buffers at first, and the texels of the images."""
    rng = np.random.default_rng(seed)
    any_bits = rng.integers(0, 1 << 32, 100).astype(np.uint32).view(np.float32)
    usual = rng.normal(0, 300, 256 - len(any_bits) - len(_TRICKY)).astype(np.float32)
    data: Arrays = {
        "in": rng.integers(0, 1 << 64, 2 * ITEMS, dtype=np.uint64),
        "fin": rng.permutation(np.concatenate([np.array(_TRICKY, np.float32), any_bits, usual])),
        "out": np.zeros(FORMS_EACH * ITEMS, np.uint64),
    }
    for shape, kind in _IMAGES:
        count = 4 * int(np.prod(_SIDES[shape]))
        texels = rng.normal(0, 9, count) if kind == "f" else rng.integers(0, 1 << 31, count)
        data[f"im{shape}{kind}"] = texels.astype(_NUMPY[kind])
    return data


def here(program: Any, kernel: Kernel, data: Arrays, folder: Path, trace: bool) -> Any:
    """Return the results of a run in the emulator, or what it had to say."""
    arguments = {}
    for name in ("in", "fin", "out", *(f"im{shape}{kind}" for shape, kind in kernel.images)):
        path = folder / f"{name}.bin"
        path.write_bytes(data[name].tobytes())
        sides = ",".join(map(str, _SIDES[name[2]])) if name.startswith("im") else ""
        arguments[name] = parse_argument(f"image({sides},file:{path})" if sides else f"file:{path}")
    launch = Launch(kernel.name, (ITEMS,), (GROUP,), arguments)
    result = emulate(
        program, program.kernel(kernel.name), launch, EmulationSettings(engine=Engine.JIT, trace=trace)
    )
    notes = [it for it in result.notes if not it.startswith("image ")]
    if result.faults or not result.is_whole or notes:
        told = [(program.position(it.span).row, it.kind.value, it.detail) for it in result.faults]
        return f"{told} {notes}"
    return result.buffers["out"].data.view(np.uint64)


def there(queue: Any, built: Any, kernel: Kernel, data: Arrays) -> Any:
    """Return the results of a run on PoCL."""
    import pyopencl as cl

    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffers: list[Any] = [cl.Buffer(queue.context, flags, hostbuf=data[it]) for it in ("in", "fin", "out")]
    kinds = {"f": "FLOAT", "i": "SIGNED_INT32", "ui": "UNSIGNED_INT32"}
    only = cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR
    for shape, kind in kernel.images:
        form = cl.ImageFormat(cl.channel_order.RGBA, getattr(cl.channel_type, kinds[kind]))
        texels, sides = data[f"im{shape}{kind}"], _SIDES[shape]
        made = cl.create_image(queue.context, only, form, sides, hostbuf=texels, is_array=shape == "a")
        buffers.append(made)
    cl.Kernel(built, kernel.name)(queue, (ITEMS,), (GROUP,), *buffers)
    found = np.empty_like(data["out"])
    cl.enqueue_copy(queue, found, buffers[2])
    return found


def difference(kernel: Kernel, found: Any, expected: Any) -> str:
    """Return what differs, by form; nothing if all is equal."""
    if isinstance(found, str):
        return found
    wrong = np.flatnonzero(found != expected).tolist()
    lines = []
    for number in sorted({at % FORMS_EACH for at in wrong}):
        items = [at // FORMS_EACH for at in wrong if at % FORMS_EACH == number][:9]
        lines.append(f"{kernel.forms[number]}, items {items}: {kernel.bodies[number]}")
    return "\n  ".join(lines)


def main() -> int:
    """Compare; 1 if any form differs."""
    import pyopencl as cl

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=list(FORMS), choices=list(FORMS))
    options = parser.parse_args()
    device = next(it for p in cl.get_platforms() if "Portable" in p.name for it in p.get_devices())
    queue = cl.CommandQueue(cl.Context([device]))
    same = different = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(options.seed, options.seed + options.programs):
            rng = random.Random(f"forms {seed}")
            kernels = [Kernel(rng, f"k{n}", options.only) for n in range(KERNELS)]
            text = "".join(it.text() for it in kernels)
            built = cl.Program(queue.context, text).build(options=["-cl-opt-disable"])
            program, data = read_program(text, "forms.cl"), contents(seed)
            for it in kernels:
                expected = there(queue, built, it, data)
                runs = (here(program, it, data, Path(folder), trace) for trace in (False, True))
                told = next((found for run in runs if (found := difference(it, run, expected))), "")
                same, different = same + (not told), different + bool(told)
                if told:
                    print(f"seed {seed}, {it.name}: {told}", flush=True)
            if seed % 25 == 24:
                print(f"{same} equal, {different} different", flush=True)
    print(f"{same} kernels equal in every byte, {different} different")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
