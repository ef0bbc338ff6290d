"""Launches of programs that hand their kernels to a tuner: KTT and CLTune."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clmap_lsp.cli import main

KERNELS = """\
__kernel void blur(__global float *out, const int width, const int pass) {
  const int x = get_global_id(0) * TILE;
  for (int i = 0; i < TILE; i++) out[(x + i) * width + get_global_id(1)] = pass;
}
__kernel void plain(__global float *out, const int width, const int pass) {
  out[get_global_id(1) * width + get_global_id(0)] = pass;
}
"""
KTT = """\
#include <Ktt.h>
#if WITH_CUDA
const std::string file = "blur.cu";
const bool onCuda = true;
#elif WITH_OPENCL
const std::string file = "blur.cl";
const bool onCuda = false;
#endif
int main() {
  int width = 1024, pass = 0;
  std::vector<float> out(width * width);
  const ktt::DimensionVector whole(width, width);
  const ktt::DimensionVector plainGroup(32, 4);
  const ktt::DimensionVector group;
  ktt::Tuner tuner(0, 0, onCuda ? ktt::ComputeApi::CUDA : ktt::ComputeApi::OpenCL);
  %(size_type)s
  std::vector<ktt::KernelDefinitionId> ids(2);
  ids[0] = tuner.AddKernelDefinitionFromFile("blur", file, whole, group);
  ids[1] = tuner.AddKernelDefinitionFromFile("plain", file, whole, plainGroup);
  const auto outId = tuner.AddArgumentVector(out, ktt::ArgumentAccessType::WriteOnly);
  const auto widthId = tuner.AddArgumentScalar(width);
  const auto passId = tuner.AddArgumentScalar(pass);
  tuner.SetArguments(ids[0], {outId, widthId, passId});
  tuner.SetArguments(ids[1], {outId, widthId, passId});
  %(kernel)s
  std::vector<uint64_t> sizes;
  if constexpr (!onCuda) { sizes = {8, 16, 32}; } else { sizes = {32, 64}; }
  tuner.AddParameter(kernel, "GX", sizes);
  tuner.AddParameter(kernel, "GY", std::vector<uint64_t>{1, 2, 4, 8});
  tuner.AddParameter(kernel, "TILE", std::vector<uint64_t>{1, 4});
  tuner.AddParameter(kernel, "FAST", std::vector<uint64_t>{1});
  tuner.AddThreadModifier(kernel, {ids[0]}, ktt::ModifierType::Local, ktt::ModifierDimension::X, "GX",
                          ktt::ModifierAction::Multiply);
  tuner.AddThreadModifier(kernel, {ids[0]}, ktt::ModifierType::Local, ktt::ModifierDimension::Y, "GY",
                          ktt::ModifierAction::Multiply);
  auto fewer = [](const uint64_t size, const std::vector<uint64_t>& v) { return size / v.at(0); };
  tuner.AddThreadModifier(kernel, {ids[0]}, ktt::ModifierType::Global, ktt::ModifierDimension::X, {"TILE"},
                          fewer);
  auto enough = [](const std::vector<uint64_t>& v) { return v[0] * v.at(1) >= 64; };
  tuner.AddConstraint(kernel, {"GX", "GY"}, enough);
  auto tiled = [](const std::vector<uint64_t>& v) { return v[0] > 16 || v[1] == 4; };
  tuner.AddConstraint(kernel, {"GX", "TILE"}, tiled);
  const auto results = tuner.Tune(kernel);
}
"""
SIMPLE = 'const auto kernel = tuner.CreateSimpleKernel("Blur", ids[0]);'
COMPOSITE = """\
const auto kernel = tuner.CreateCompositeKernel("Both", ids, [ids, passId](ktt::ComputeInterface& interface) {
    for (int pass = 0; pass < 4; pass++) {
      interface.UpdateScalarArgument(passId, &pass);
      ktt::DimensionVector plainSize = interface.GetCurrentGlobalSize(ids[1]);
      plainSize.SetSizeY(16);
      interface.RunKernel(ids[1], plainSize, interface.GetCurrentLocalSize(ids[1]));
      interface.RunKernel(ids[0], ktt::DimensionVector(512, 256), ktt::DimensionVector(16));
    }
  });"""
CLTUNE = """\
#include <cltune.h>
int main() {
  cltune::Tuner tuner(0, 0);
  auto id = tuner.AddKernel({"blur.cl"}, "blur", {2048, 512}, {1, 1});
  tuner.AddParameter(id, "TILE", {2, 4});
  tuner.AddParameter(id, "GX", {64, 128});
  tuner.DivGlobalSize(id, {"TILE"});
  tuner.MulLocalSize(id, {"GX"});
  tuner.AddArgumentOutput(out);
  tuner.AddArgumentScalar(2048);
  tuner.AddArgumentScalar(3);
  tuner.Tune();
}
"""


def _launched(tmp_path: Path, capsys: pytest.CaptureFixture[str], host: str) -> dict[str, dict[str, Any]]:
    (tmp_path / "blur.cl").write_text(KERNELS)
    (tmp_path / "main.cpp").write_text(host)
    assert main(["launches", str(tmp_path), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)["launches"]
    return {it["kernel"]: it for it in found}


def test_sizes_and_macros_are_those_of_the_first_configuration_that_is_allowed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    it = _launched(tmp_path, capsys, KTT % {"size_type": "", "kernel": SIMPLE})["blur"]
    assert it["kernel_file"].endswith("blur.cl")
    assert it["local"] == ["GX", "GY"]
    assert it["global"] == ["1024 / TILE", 1024]
    assert it["defaults"]["local"] == [16, 4]  # Rows of 8 are short, 16 x 1 and 16 x 2 are too few.
    assert it["defaults"]["global"] == [256, 1024]  # GX = 16 wants TILE = 4.
    assert it["default_defines"] == {"GX": "16", "GY": "4", "TILE": "4"}
    assert it["build_options"] == "-DGX={GX} -DGY={GY} -DTILE={TILE} -DFAST=1"
    assert it["args"] == {"width": 1024, "pass": 0}


def test_groups_may_be_small_where_all_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    host = (KTT % {"size_type": "", "kernel": SIMPLE}).replace(">= 64", "<= 24")
    it = _launched(tmp_path, capsys, host)["blur"]
    assert it["defaults"]["local"] == [8, 1]


def test_macros_that_leave_no_kernel_are_not_taken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "blur.cl").write_text("#if TILE == 1\n" + KERNELS + "#endif\n")
    (tmp_path / "main.cpp").write_text(KTT % {"size_type": "", "kernel": SIMPLE})
    monkeypatch.chdir(tmp_path)
    main(["check", "blur.cl"])
    assert "2 kernels in 1 file" in capsys.readouterr().out


def test_a_class_of_the_project_called_string_is_none_of_the_library(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "own.h").write_text("namespace own { class string { public: string(const char *) {} }; }\n")
    for name in ("first.cl", "second.cl"):
        (tmp_path / name).write_text(KERNELS)
    host = (KTT % {"size_type": "", "kernel": SIMPLE}).replace('"blur", file', '"blur", path')
    taken = "int main(int argc, char **argv) {\n std::string path = file;\n"
    taken += " if (argc > 2) path = std::string(argv[2]);"
    it = _launched(tmp_path, capsys, host.replace("int main() {", '#include "own.h"\n' + taken))["blur"]
    assert it["kernel_file"].endswith("blur.cl")


def test_sizes_counted_in_groups(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    in_groups = "tuner.SetGlobalSizeType(ktt::GlobalSizeType::CUDA);"
    it = _launched(tmp_path, capsys, KTT % {"size_type": in_groups, "kernel": SIMPLE})["blur"]
    assert it["defaults"]["global"] == [256 * 16, 1024 * 4]


def test_launcher_says_what_is_launched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = _launched(tmp_path, capsys, KTT % {"size_type": "", "kernel": COMPOSITE})
    assert found["blur"]["global"] == [512, 256]
    assert found["blur"]["local"] == [16, 1]
    assert found["plain"]["global"] == [1024, 16]
    assert found["plain"]["local"] == [32, 4]
    assert found["plain"]["args"]["width"] == 1024
    assert not isinstance(found["plain"]["args"]["pass"], int)  # Another one each time.


def test_cltune(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    it = _launched(tmp_path, capsys, CLTUNE)["blur"]
    assert it["global"] == ["2048 / TILE", 512]
    assert it["defaults"]["global"] == [1024, 512]
    assert it["defaults"]["local"] == [64, 1]
    assert it["default_defines"] == {"TILE": "2", "GX": "64"}
    assert it["args"] == {"width": 2048, "pass": 3}


def test_findings_rest_on_the_macros_of_the_tuner(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "blur.cl").write_text(KERNELS)
    (tmp_path / "main.cpp").write_text(KTT % {"size_type": "", "kernel": SIMPLE})
    monkeypatch.chdir(tmp_path)
    main(["check", "blur.cl", "--format", "json", "--kernel", "blur"])
    findings = json.loads(capsys.readouterr().out)["findings"]
    rests = [it for each in findings for it in each.get("rests_on", ())]
    assert {"kind": "macro", "name": "TILE", "value": "4", "origin": "host default"} in rests
    assert not [
        it for it in rests if it["origin"] == "guessed" and it["kind"] in ("macro", "global", "local")
    ]


def test_braces_give_the_elements_of_a_list_and_not_their_number(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    elements = ", ".join(map(str, range(8, 28)))
    host = f"""\
int main() {{
  std::vector<int> rows{{{elements}}};
  cl_kernel k = clCreateKernel(program, "plain", NULL);
  size_t whole = rows.size(), group = std::vector<int>{{4, 5}}.at(1);
  clEnqueueNDRangeKernel(queue, k, 1, NULL, &whole, &group, 0, NULL, NULL);
}}
"""
    it = _launched(tmp_path, capsys, host)["plain"]
    assert it["global"] == [20]
    assert it["local"] == [5]


def test_constants_of_another_program_are_not_taken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "other.cpp").write_text("const int rows = 77;\nint main() { return rows; }\n")
    host = """\
int main() {
  cl_kernel k = clCreateKernel(program, "plain", NULL);
  size_t whole = rows;
  clEnqueueNDRangeKernel(queue, k, 1, NULL, &whole, NULL, 0, NULL, NULL);
}
"""
    assert _launched(tmp_path, capsys, host)["plain"]["global"] == ["rows"]
