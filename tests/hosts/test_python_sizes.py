"""Sizes in Python: arrays on devices, random data, and options with what they are by default."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clmap_lsp.cli import main

HEAD = """\
import argparse, optparse, os, sys
import numpy as np
import pyopencl as cl
import pyopencl.array as cla
import pyopencl.clrandom as clrandom
ctx = cl.create_some_context()
queue = cl.CommandQueue(ctx)
prg = cl.Program(ctx, open("k.cl").read()).build()
"""
PARSER = "p = argparse.ArgumentParser()\n"
GROUP = f"{PARSER}g = p.add_argument_group('g')\n"
OPTIONS = "p = optparse.OptionParser()\n"
KERNEL = (
    "__kernel void k(__global float *a, int n) { if (get_global_id(0) < n) a[get_global_id(0)] = 1.0f; }\n"
)


def launched(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> tuple[list[object], list[object]]:
    """Return the global size, and what it is by default."""
    (tmp_path / "k.cl").write_text(KERNEL)
    (tmp_path / "app.py").write_text(HEAD + text)
    assert main(["launches", str(tmp_path), "--format", "json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["launches"]
    return found["global"], found["defaults"]["global"]


@pytest.mark.parametrize(
    ("array", "sizes"),
    [
        ("cla.zeros(queue, (48, 64), np.float32)", [48, 64]),
        ("cla.empty(queue, 96, np.float32)", [96]),
        ("cla.zeros(ctx_queue(), (48, 64), np.float32)", [48, 64]),
        ("np.full(32, 7)", [32]),
        ("np.zeros(queue_length, np.float32)", ["queue_length"]),
        ("np.zeros((16, 8), np.float32)", [16, 8]),
        ("cla.arange(queue, 128, dtype=np.float32)", [128]),
        ("clrandom.rand(queue, (12, 24), np.float32)", [12, 24]),
        ("cla.to_device(queue, np.random.randint(0, 256, size=1000).astype(np.uint8))", [1000]),
        ("np.random.default_rng(1).integers(0, 9, (20, 30))", [20, 30]),
        ("np.random.uniform(0.0, 1.0, (20, 30)).astype(np.float32)", [20, 30]),
        ("np.zeros((20, 30)).ravel()", [600]),
        ("np.zeros(600).reshape(20, 30)", [20, 30]),
        ("np.zeros((20, 30)).reshape(-1)", [600]),
    ],
)
def test_arrays_have_their_shape(
    array: str, sizes: list[int | str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    text = f"a = {array}\nprg.k(queue, a.shape, None, a.data, np.int32(a.size))\n"
    known = [it if isinstance(it, int) else None for it in sizes]
    assert launched(tmp_path, capsys, text) == (sizes, known)


@pytest.mark.parametrize(
    ("text", "size", "default"),
    [
        (f"{PARSER}p.add_argument('-n', '--width', default=64)\nn = p.parse_args().width\n", "width", 64),
        (
            f"{GROUP}g.add_argument('-x', dest='n', default=9)\nn = p.parse_args().n\n",
            "n",
            9,
        ),
        (f"{PARSER}p.add_argument('n', type=int)\nn = p.parse_args().n\n", "n", None),
        (f"{PARSER}p.add_argument('--n', default=80)\na, rest = p.parse_known_args()\nn = a.n\n", "n", 80),
        (
            f"{OPTIONS}p.add_option('-s', '--n-x', default=5)\nn = p.parse_args()[0].n_x\n",
            "n_x",
            5,
        ),
        ("n = int(os.environ.get('SIZE', '384'))\n", "SIZE", 384),
        ("n = int(os.getenv('SIZE', 384))\n", "SIZE", 384),
        ("n = int(sys.argv[1]) if len(sys.argv) > 1 else 2048\n", None, 2048),
    ],
)
def test_options_are_what_they_are_by_default(
    text: str, size: str | None, default: int | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    sizes, defaults = launched(tmp_path, capsys, text + "prg.k(queue, (n,), None, b, np.int32(n))\n")
    assert defaults == [default]
    assert isinstance(sizes[0], str)
    assert size in (None, sizes[0])


def test_get_of_another_dictionary_is_no_option(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    text = "def go(sizes):\n    prg.k(queue, (sizes.get('n', 64),), None, b, np.int32(1))\n"
    assert launched(tmp_path, capsys, text)[1] == [None]


def test_a_kernel_out_of_a_table_by_its_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    text = (
        "class Runner:\n"
        "    def __init__(self):\n"
        "        self.kernels = {it.function_name: it for it in prg.all_kernels()}\n"
        "        self.sizes = dict(read_sizes())\n"
        "    def run(self, b):\n"
        "        it = self.kernels['k']\n"
        "        it.set_args(b, np.int32(50))\n"
        "        cl.enqueue_nd_range_kernel(queue, it, (64,), self.sizes['k'])\n"
        "Runner().run(None)\n"
    )
    assert launched(tmp_path, capsys, text) == ([64], [64])


def test_sizes_that_are_made_dimension_by_dimension(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    text = (
        "def whole(shape, tile):\n"
        "    return tuple(int(np.ceil(s / t)) * t for s, t in zip(shape, tile))\n"
        "prg.k(queue, whole((1000, 70), (64, 4)), (64, 4), b, np.int32(1))\n"
    )
    assert launched(tmp_path, capsys, text) == ([1024, 72], [1024, 72])


def test_sizes_that_are_counted_through(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    text = "g = [s * (i + 1) for i, s in enumerate((64, 32))]\nprg.k(queue, g, None, b, np.int32(1))\n"
    assert launched(tmp_path, capsys, text)[0] == [64, 64]


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        ("a.shape[:2]", [48, 32]),
        ("a.shape[1::-1]", [32, 48]),
        ("a.shape[-2:]", [32, 3]),
        ("a.shape[::-1][1:]", [32, 48]),
        ("(*a.shape[:0], 7)[-1:]", None),
        ("a.shape[:n]", None),
    ],
)
def test_parts_of_a_shape(
    size: str, expected: list[int] | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    text = f"a = np.zeros((48, 32, 3))\nprg.k(queue, {size}, None, b, np.int32(1))\n"
    sizes, _ = launched(tmp_path, capsys, text)
    if expected is not None:
        assert sizes == expected
    else:
        assert not any(isinstance(it, int) and it != 7 for it in sizes)


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ("[random.gauss(0, 1) for _ in range(128)]", [128]),
        ("[cl.cltypes.make_float4(1, 2, 3, 4) for i in range(4, 132)]", [128]),
        ("[[i * j for j in range(80)] for i in range(70)]", [70, 80]),
        ("[[0] * 80 for i in range(70)]", [70, 80]),
        ("[[0 for j in range(i + 65)] for i in range(70)]", None),
        ("[f(i) for i in range(128)]", None),
        ("[np.random.randint(0, 9, n) for i in range(128)]", None),
        ("[i * scale for i in range(128)]", None),
        ("[i for i in range(128) if i % n]", None),
    ],
)
def test_arrays_of_comprehensions(
    items: str, expected: list[int] | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    text = f"import random\na = np.array({items})\nprg.k(queue, a.shape, None, b, np.int32(1))\n"
    sizes, _ = launched(tmp_path, capsys, text)
    assert sizes == expected if expected is not None else not any(isinstance(it, int) for it in sizes)


def test_the_last_of_two_constructors_makes_objects(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    text = (
        "class Grid:\n"
        "    def __init__(self, w, h):\n"
        "        self.cells = np.zeros((h, h))\n"
        "    def __init__(self, w, h, deep=2):\n"
        "        self.cells = np.zeros((w, h))\n"
        "g = Grid(64, 32)\n"
        "prg.k(queue, g.cells.shape, None, b, np.int32(1))\n"
    )
    assert launched(tmp_path, capsys, text)[0] == [64, 32]
