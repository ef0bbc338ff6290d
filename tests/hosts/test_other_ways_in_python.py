"""Launches behind exceptions, under other names, of tasks, and with sizes of slices and pictures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clmap_lsp.cli import main

HEAD = """\
import numpy as np
import pyopencl as cl
from PIL import Image
ctx = cl.create_some_context()
queue = cl.CommandQueue(ctx)
prg = cl.Program(ctx, open("k.cl").read()).build()
"""
KERNEL = (
    "__kernel void k(__global float *a, int n) { if (get_global_id(0) < n) a[get_global_id(0)] = 1.0f; }\n"
)


def launches(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str) -> list[dict[str, Any]]:
    (tmp_path / "k.cl").write_text(KERNEL)
    (tmp_path / "app.py").write_text(HEAD + text)
    assert main(["launches", str(tmp_path), "--format", "json"]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["launches"]
    return found


REFUSED = """
class WidthError(Exception):
    pass

def prepare(width, per):
    if width % per:
        raise WidthError()
    return prg.k

def run(a):
    kernel = None
    for per in [8, 4]:
        if kernel:
            continue
        try:
            kernel = prepare(a.shape[0], per)
            size = (512,)
        except WidthError:
            pass
    if kernel is None:
        kernel = prg.k
        size = (64,)
    kernel(queue, size, None, a.data, np.int32(a.size))
"""


def test_what_the_program_raises_may_leave_a_size_as_another_way_sets_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (found,) = launches(tmp_path, capsys, REFUSED)
    assert found["global"] != [512]


def test_a_handler_that_leaves_joins_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = REFUSED.replace("            pass\n", "            return\n").replace("[8, 4]", "[8]")
    text = text.replace("    if kernel is None:\n        kernel = prg.k\n        size = (64,)\n", "")
    (found,) = launches(tmp_path, capsys, text)
    assert found["global"] == [512]


@pytest.mark.parametrize(
    ("array", "sizes"),
    [
        ("np.array(range(10), dtype=np.float32)", [10]),
        ("np.array(list(range(4, 100, 2)))", [48]),
        ("np.array([0.0] * 96)", [96]),
        ("np.zeros((48, 64, 3))[:, :, 0]", [48, 64]),
        ("np.zeros((48, 64, 3))[1:, ::2]", [47, 32, 3]),
        ("np.zeros((48, 64))[5]", [64]),
        ("np.zeros(100)[:-4]", [96]),
    ],
)
def test_arrays_have_their_shape(
    array: str, sizes: list[int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = f"a = {array}\nprg.k(queue, a.shape, None, cl.Buffer(ctx, 0, hostbuf=a), np.int32(a.size))\n"
    (found,) = launches(tmp_path, capsys, text)
    assert found["global"] == sizes


def test_what_a_mask_leaves_is_not_known(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "a = np.zeros((48, 64))[np.arange(48) > n, 0]\nprg.k(queue, a.shape, None, buf, np.int32(7))\n"
    (found,) = launches(tmp_path, capsys, text)
    assert not any(isinstance(it, int) for it in found["global"])


def test_an_array_that_is_filled_keeps_its_shape(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "a = np.ndarray((10, 6), dtype=np.float32)\na[:] = 1.0\na[:, 0] = 2.0\n"
    (found,) = launches(tmp_path, capsys, text + "prg.k(queue, a.shape, None, buf, np.int32(7))\n")
    assert found["global"] == [10, 6]


def test_a_list_that_is_written_to_in_part_is_open(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "a = [10, 6]\na[:1] = sizes\nprg.k(queue, (a[0],), None, buf, np.int32(7))\n"
    (found,) = launches(tmp_path, capsys, text)
    assert not any(isinstance(it, int) for it in found["global"])


@pytest.mark.parametrize(
    "picture",
    [
        "Image.open(name).convert('RGBA').resize((64, 48))",
        "Image.open(name).resize((64, 48)).convert('L')",
        "Image.new('L', (64, 48))",
    ],
)
def test_pictures_have_their_size(picture: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = f"p = {picture}\nw, h = p.size\nprg.k(queue, (w, p.height), None, buf, np.int32(w * h))\n"
    (found,) = launches(tmp_path, capsys, text)
    assert found["global"] == [64, 48]
    assert found["args"]["n"] == 64 * 48


def test_a_task_is_one_work_item(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "run = prg.k\nrun.set_args(buf, np.int32(7))\ncl.enqueue_task(queue, run)\n"
    (found,) = launches(tmp_path, capsys, text)
    assert (found["global"], found["local"], found["args"]) == ([1], [1], {"n": 7})


def test_groups_had_a_name_only_in_early_versions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "buf = cl.Buffer(ctx, 0, size=256)\nprg.k(queue, (64,), buf, np.int32(7), local_size=(8,))\n"
    (found,) = launches(tmp_path, capsys, text)
    assert (found["global"], found["local"], found["args"]) == ([64], [8], {"n": 7})


def test_a_function_is_followed_under_another_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (
        "def on_device(n):\n    prg.k(queue, (n,), None, buf, np.int32(n))\n\n"
        "solve = on_device\n\ndef draw(n=96):\n    solve(n)\n\ndraw()\n"
    )
    (found,) = launches(tmp_path, capsys, text)
    assert found["global"] == [96]


def test_the_first_of_what_is_not_known_is_not_the_whole(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (
        "def run(shape):\n    prg.k(queue, (shape[0], shape[1]), None, buf, np.int32(shape[0]))\n\n"
        "run(picture.size)\n"
    )
    (found,) = launches(tmp_path, capsys, text)
    assert found["global"] == ["picture.size[0]", "picture.size[1]"]


def test_sizes_that_are_put_together_stand_in_brackets(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "k.cl").write_text(KERNEL)
    (tmp_path / "app.py").write_text(HEAD + "prg.k(queue, (4, side.n + 1), None, buf, np.int32(7))\n")
    assert main(["launches", str(tmp_path)]) == 0
    assert "4 x (side.n + 1), groups left" in capsys.readouterr().out


def test_an_array_that_may_be_another_has_no_known_shape(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (
        "def weights(name):\n    if name:\n        return np.asarray(load(name)['w'])\n"
        "    return np.zeros((25, 40))\n\n"
        "w = weights(argv_name)\nprg.k(queue, w.shape, None, buf, np.int32(w.shape[0]))\n"
    )
    (found,) = launches(tmp_path, capsys, text)
    assert not any(isinstance(it, int) for it in (*found["global"], found["args"]["n"]))
