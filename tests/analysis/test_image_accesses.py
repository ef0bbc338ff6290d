"""Reads and writes of images: coordinates, M and o, the walk of the ids, reports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from kernels import program

from clmap_lsp.analysis.images import ImageAnalysis
from clmap_lsp.analysis.session import AnalysisSession
from clmap_lsp.cli import main
from clmap_lsp.devices import load_model
from clmap_lsp.exactness import Exactness

HEAD = "__constant sampler_t s = CLK_FILTER_NEAREST; __constant sampler_t n = CLK_NORMALIZED_COORDS_TRUE;\n"
LAUNCH = "// clmap: global=64,32 local=32,1 im=image(64,64) n=3\n"
KERNEL = (
    "__kernel void k({image} im, int n, __global float4 *out, __write_only image2d_t to) {{"
    " int x = get_global_id(0), y = get_global_id(1); float4 v = 0; {body} out[y * 64 + x] = v; }}\n"
)


def images(
    body: str, image: str = "__read_only image2d_t", before: str = LAUNCH
) -> tuple[ImageAnalysis, ...]:
    text = HEAD + before + KERNEL.format(image=image, body=body)
    (kernel,) = AnalysisSession().analyse(program(text), load_model("nvidia-hopper")).kernels
    return kernel.images


def image(body: str, image: str = "__read_only image2d_t") -> ImageAnalysis:
    (found,) = images(body, image)
    return found


PLACES = {
    "(int2)(x, y)": "im(x, y)",
    "(int2)(y, 2 * x + n)": "im(y, x*2 + n)",
    "s, (float2)(x + 0.5f, y - 0.25f)": "im(x, y - 1)",
    "s, (float2)(x, y) + (float2)(1.0f)": "im(x + 1, y + 1)",
    "s, convert_float2((int2)(x, y)) + 0.5f": "im(x, y)",
    "(int2)(get_group_id(0) * 32, y)": "im(get_group_id(0)*32, y)",
    "(int2)(get_image_width(im) - 1 - x, y)": "im(get_image_width(im) - x - 1, y)",
}


@pytest.mark.parametrize("coordinates", PLACES)
def test_places_are_in_the_authors_words(coordinates: str) -> None:
    assert image(f"v = read_imagef(im, {coordinates});").access.place_text == PLACES[coordinates]


def test_coordinates_are_the_rows_of_the_matrix() -> None:
    found = image("for (int i = 0; i < n; i++) v += read_imagef(im, (int2)(x + 2 * i, y - 1));")
    assert found.classified.columns == ("get_global_id(1)", "get_global_id(0)", "i")
    assert found.classified.entries == ((1, 0, 0), (0, 1, 2))
    assert found.classified.offset == ("-1", "0")


def test_a_volume_has_three_coordinates() -> None:
    found = image("v = read_imagef(im, (int4)(y, x, n, 0));", "__read_only image3d_t")
    assert found.classified.entries == ((0, 0), (0, 1), (1, 0))
    assert found.classified.offset == ("n", "0", "0")
    assert found.access.place_text == "im(y, x, n)"


def test_steps_of_the_ids() -> None:
    found = image("v = read_imagef(im, (int2)(y, n * x));")
    assert [[it.text for it in steps] for steps in found.steps] == [["0", "n"], ["1", "0"]]
    assert [[it.value for it in steps] for steps in found.steps] == [[0, 3], [1, 0]]
    assert (found.axis_of(0), found.axis_of(1)) == ("y", "x")
    assert image("v = read_imagef(im, (int2)(x, x));").axis_of(0) is None
    assert image("v = read_imagef(im, (int2)(x / 2, y));").axis_of(0) is None


def test_what_is_not_known_says_why() -> None:
    found = image("v = read_imagef(im, (int2)((int)out[x].x, y));")
    assert found.access.indirect_through == ("out",)
    assert found.count.method is Exactness.UNKNOWN
    assert found.request_text is None
    assert "its place depends on" in found.missing
    never = image("if (x < 0) v = read_imagef(im, (int2)(x, y));")
    assert never.is_never_executed
    assert never.missing == "never executed in this launch"
    (missing,) = images("v = read_imagef(im, (int2)(x, y));", before="// clmap: global=7 local=2\n")
    assert missing.count.method is not Exactness.UNKNOWN or missing.count.reason


def test_data_of_an_image_lead_to_buffers() -> None:
    body = "v = out[read_imagei(im, (int2)(x, y)).x];"
    text = HEAD + LAUNCH + KERNEL.format(image="__read_only image2d_t", body=body)
    (kernel,) = AnalysisSession().analyse(program(text), load_model("nvidia-hopper")).kernels
    assert kernel.accesses[0].access.indirect_through == ("im",)


def test_guards_by_the_sides_of_an_image_are_counted() -> None:
    body = "if (x >= get_image_width(im) - 16 || y >= get_image_dim(im).y) return;"
    text = HEAD + LAUNCH + KERNEL.format(image="__read_only image2d_t", body=body)
    (kernel,) = AnalysisSession().analyse(program(text), load_model("nvidia-hopper")).kernels
    (store,) = kernel.accesses
    assert store.method is Exactness.EXACT
    assert store.totals is not None
    assert store.totals.requests == 2 * 32  # Half a SIMD group is left of the second of each row.
    assert [(it.name, it.value, it.origin) for it in kernel.rests_on if it.kind == "image"] == [
        ("im", "64x64", "configured")
    ]


def test_an_edit_elsewhere_moves_images_along() -> None:
    session, device = AnalysisSession(), load_model("nvidia-hopper")
    text = (
        HEAD
        + LAUNCH
        + KERNEL.format(image="__read_only image2d_t", body="v = read_imagef(im, (int2)(x, y));")
    )
    session.analyse(program(text), device)
    moved = "// A line above.\n" + text
    (kernel,) = session.analyse(program(moved), device).kernels
    span = kernel.images[0].access.span
    assert session.n_analysed == 1
    assert moved[span.start : span.end] == "read_imagef(im, (int2)(x, y))"


def test_reports_have_images(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "k.cl"
    body = "v = read_imagef(im, n, (float2)(x, y)); write_imagef(to, (int2)(y, x), v);"
    path.write_text(HEAD + LAUNCH + KERNEL.format(image="__read_only image2d_t", body=body))
    assert main(["analyze", str(path)]) == 0
    text = capsys.readouterr().out
    assert "`to(y, x)` (image store): a request touches 32 texels in 32 rows, a box of 1x32" in text
    assert main(["analyze", "--format", "json", str(path)]) == 0
    (kernel,) = json.loads(capsys.readouterr().out)["files"][0]["kernels"]
    read, write = kernel["images"]
    assert (read["image"], read["type"], read["op"]) == ("im", "image2d_t", "load")
    assert write["per_request"] == {
        "texels": {"min": 32, "mean": 32.0, "max": 32},
        "rows": {"min": 32, "mean": 32.0, "max": 32},
        "box": [1, 32, 1],
    }
    assert (write["requests"], write["executions"], write["method"]) == (64, 2048, "exact")
    assert write["matrix"] == [[0, 1], [1, 0]]
    assert write["cost"] is None and "not known" in write["cost_reason"]
