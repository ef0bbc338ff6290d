"""The shipped models: complete, equal to the table they were made from, and found by name."""

import csv
import re
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from clmap_lsp.devices import (
    BankedLocal,
    Confidence,
    DeviceModelError,
    Unknown,
    list_models,
    load_model,
    match_device,
)
from clmap_lsp.devices.catalogue import parse_phases, read_model

TABLE = Path(__file__).parents[1] / "data" / "devices" / "devices.csv"
ROWS = list(csv.DictReader(TABLE.open()))


def first_number(text):
    digits = text.split("(")[0].split("/")[0].strip().split(" ")[0]
    return int(digits) if digits.isdigit() else None


@pytest.mark.parametrize("row", ROWS, ids=lambda it: it["id"])
def test_every_row_of_the_table_has_its_model(row):
    model = load_model(row["id"])
    assert row["id"] in (model.id, *model.aliases)
    if (width := first_number(row["simd_width"])) is not None and "/" not in row["simd_width"]:
        assert model.simd_width == width
    assert model.line_bytes == first_number(row["line_B"])
    assert model.granule_bytes == first_number(row["txn_granule_B"])
    if (size := first_number(row["max_wg"])) is not None:
        assert model.limits.max_work_group_size == size
    if (kib := first_number(row["local_KiB_per_wg"])) is not None:
        assert model.limits.local_bytes_per_group == kib * 1024


@pytest.mark.parametrize("row", [it for it in ROWS if it["local_banks"] not in ("TBD", "not published")])
def test_banks_and_phases_are_those_of_the_table(row):
    rule = load_model(row["id"]).local_rule
    banks = first_number(row["local_banks"])
    if not banks:
        assert not isinstance(rule, BankedLocal)
        return
    assert (rule.banks, rule.bank_bytes) == (banks, int(row["bank_width_B"]))
    assert rule.same_word_store_free is not row["write_same_word"].startswith("CONFLICT")
    columns = {
        "local_64b_phases": [rule.load_phases[8], rule.store_phases[8]],
        "local_128b_read_phases": [rule.load_phases[16]],
        "local_128b_write_phases": [rule.store_phases[16]],
    }
    for column, phases in columns.items():
        text = row[column]
        for found in phases:
            if "UNKNOWN" in text or "not documented" in text or text == "same":
                assert isinstance(found, Unknown)
                continue
            words = text.replace(" lanes", "").replace(" contiguous", "").split(" (")[0]
            assert found.groups == parse_phases(words)


PLACE = re.compile(
    r"\b(sections?|chapters? (\d+|(?-i:[A-Z])\w*)|appendix|tables?|page|thread|post \d+"
    r"|PR \d+|feature \w+)\b",
    re.IGNORECASE,
)
"""A chapter has a number or a name: "the chapters on memory" is no place."""
NO_DOCUMENT = re.compile(
    r"measured|reports of this generation|choice of this model|not (be )?(found|looked up)"
    r"|differs between products|asked of the device|cl_device_info"
)
PROGRAMS = {"ggml", "pocl", "intel-cpu"}
"""Sources of a page or two, and programs."""


@pytest.mark.parametrize("model", list_models(), ids=lambda it: it.id)
def test_every_source_says_where_in_the_document_or_that_there_is_none(model):
    path = Path(list_models.__wrapped__.__code__.co_filename).with_name("models") / f"{model.id}.toml"
    sources = tomllib.loads(path.read_text("utf-8"))["sources"]
    vague = {key: it for key, it in sources.items() if not PLACE.search(it) and not NO_DOCUMENT.search(it)}
    assert set(vague) <= PROGRAMS, vague


@pytest.mark.parametrize("model", list_models(), ids=lambda it: it.id)
def test_every_fact_has_a_source(model):
    assert {"simd.width", "constant.rule", "limits.compute_units"} <= {*model.facts, "limits.compute_units"}
    for fact in model.facts.values():
        assert fact.source
        assert (fact.value is None) == (fact.confidence is Confidence.UNKNOWN)


NEWER = {
    "amd-gfx1250",
    "apple-m3",
    "arm-mali-gen5",
    "intel-xe-lp",
    "intel-xe2",
    "nvidia-orin",
    "nvidia-thor",
    "qualcomm-adreno-8xx",
}
"""Described after the table was collected; their models name the sources."""


def test_names_are_unique_and_the_default_is_first():
    models = list_models()
    generations = [it for it in models if not it.generation]
    rows = {it["id"] for it in ROWS}
    without = [it.id for it in generations[1:] if it.id not in NEWER and not rows & {it.id, *it.aliases}]
    assert not without, f"add a row for each to {TABLE}, with an alias of the model as its id"
    assert len(generations) == len(ROWS) + len(NEWER) + 1
    names = [name for model in models for name in (model.id, *model.aliases)]
    assert len(set(names)) == len(names)
    assert models[0].id == "generic-gpu" == load_model().id


def test_models_can_be_keys():
    assert {load_model("nvidia-hopper"): 1}[load_model("nv_cc90")] == 1
    intel = load_model("intel-gen9")
    assert replace(intel, simd_width=8) != intel


@pytest.mark.parametrize(
    ("name", "near"),
    [("hoper", "nvidia-hopper"), ("qualcom-adreno", "qualcomm-adreno"), ("amd-cdna5", "amd-cdna")],
)
def test_a_wrong_name_is_answered_with_the_nearest(name, near):
    with pytest.raises(DeviceModelError) as error:
        load_model(name)
    text = str(error.value)
    assert text.startswith(f'unknown device "{name}"; did you mean "{near}')
    assert text.endswith("List: clmap-lsp devices")
    assert "\n" not in text


@pytest.mark.parametrize("name", ["", "../nvidia-hopper", "zzzzzz", "nvidia-hopper.toml\0"])
def test_names_that_are_near_nothing(name):
    with pytest.raises(DeviceModelError, match="unknown device"):
        load_model(name)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            ("banks = { value = 32", 'banks = { value = "many"'),
            "local.banks must be a whole number, not 'many'",
        ),
        (('id = "nvidia-hopper"', ""), "id must be a string"),
        (
            ('load_phases_16 = { value = "4 x 8"', 'load_phases_16 = { value = "0-3|2-7"'),
            "hold every lane once",
        ),
        (
            ('width = { value = 32, source = "cuda"', 'width = { value = 32, source = "hearsay"'),
            "a source that",
        ),
        (('kind = "banks"', 'kind = "magic"'), '"banks", "cached" or "unknown", not "magic"'),
        (('value = "per-address"', 'value = "sometimes"'), "one of per-address"),
        (("[simd]", "[simd"), "broken.toml"),
        (("width = { value = 32, source", "width = { source"), "simd.width must be"),
        (('merge_8 = { value = "pair"', 'merge_8 = { value = "often"'), "local.merge_8 must be one of"),
        (('confidence = "measured"', 'confidence = "high"'), "confidence, must be one of measured"),
    ],
)
def test_errors_in_a_model_file_name_the_entry(tmp_path, change, message):
    source = Path(list_models.__wrapped__.__code__.co_filename).with_name("models") / "nvidia-hopper.toml"
    text = source.read_text()
    assert change[0] in text
    broken = tmp_path / "broken.toml"
    broken.write_text(text.replace(*change))
    with pytest.raises(DeviceModelError) as error:
        read_model(broken)
    assert message in str(error.value)
    assert "broken.toml" in str(error.value) and "\n" not in str(error.value)


def test_a_missing_model_file(tmp_path):
    with pytest.raises(DeviceModelError, match="No such file"):
        read_model(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("vendor", "name", "extra", "expected"),
    [
        ("NVIDIA Corporation", "NVIDIA H200", {}, "nvidia-h200"),
        ("NVIDIA Corporation", "Some new name", {"compute_capability": "9.0"}, "nvidia-hopper"),
        ("NVIDIA Corporation", "Some new name", {"compute_capability": "10.3"}, "nvidia-blackwell"),
        ("NVIDIA Corporation", "Some new name", {"compute_capability": "13.0"}, None),
        ("NVIDIA Corporation", "Tesla V100-SXM2-16GB", {}, "nvidia-volta"),
        ("NVIDIA Corporation", "NVIDIA A100-SXM4-40GB", {}, "nvidia-ampere"),
        ("NVIDIA Corporation", "NVIDIA GeForce RTX 4090", {}, "nvidia-ada"),
        ("NVIDIA Corporation", "GeForce GTX 1080 Ti", {}, "nvidia-pascal"),
        ("NVIDIA Corporation", "GeForce GTX 750 Ti", {}, "nvidia-maxwell"),
        ("NVIDIA Corporation", "GeForce GTX 680", {}, "nvidia-kepler"),
        ("Advanced Micro Devices, Inc.", "gfx942:sramecc+:xnack-", {}, "amd-cdna3"),
        ("Advanced Micro Devices, Inc.", "gfx90a", {}, "amd-cdna2"),
        ("Advanced Micro Devices, Inc.", "gfx1100", {}, "amd-rdna3"),
        ("Advanced Micro Devices, Inc.", "unnamed", {"board_name": "AMD Instinct MI300X"}, "amd-cdna3"),
        ("AMD", "AMD Radeon RX 6700 XT (radeonsi, navi22, LLVM 15.0.7)", {}, "amd-rdna2"),
        ("Intel(R) Corporation", "Intel(R) UHD Graphics 630", {}, "intel-gen9"),
        ("Intel(R) Corporation", "Intel(R) Arc(TM) A770 Graphics", {}, "intel-xe-hpg"),
        ("Intel(R) Corporation", "Intel(R) Data Center GPU Max 1550", {}, "intel-xe-hpc"),
        ("Apple", "Apple M1 Pro", {}, "apple-m1"),
        ("ARM", "Mali-G78 r0p1", {}, "arm-mali-valhall"),
        ("ARM", "Mali-G52", {}, "arm-mali-g76"),
        ("QUALCOMM", "QUALCOMM Adreno(TM) 740", {}, "qualcomm-adreno"),
        ("GenuineIntel", "cpu-haswell-Intel(R) Core(TM) i7-4770", {"type": "cpu"}, "cpu"),
        ("GenuineIntel", "pthread-Intel(R) Xeon(R) CPU", {}, "cpu"),
        ("AuthenticAMD", "AMD EPYC 7742 64-Core Processor", {}, "cpu"),
        ("Acme", "Thing", {}, None),
    ],
)
def test_detected_devices_are_matched(vendor, name, extra, expected):
    assert match_device(vendor, name, extra) == expected


def test_models_are_equal_if_they_count_alike():
    """They are keys of caches: another granule under the same id must not be answered from there."""
    model = load_model("nvidia-hopper")
    rule = replace(model.global_rule, load_granule=128)
    assert replace(model, global_rule=rule) != model
    assert replace(model, line_bytes=64) != model
    assert replace(model) == model
    assert len({model, replace(model), replace(model, global_rule=rule)}) == 2


@pytest.mark.parametrize(
    ("vendor", "name", "model"),
    [
        ("Advanced Micro Devices, Inc.", "gfx1250", "amd-gfx1250"),
        ("Advanced Micro Devices, Inc.", "gfx1201", "amd-rdna4"),
        ("NVIDIA Corporation", "NVIDIA GeForce GTX 745", "nvidia-maxwell"),
        ("NVIDIA Corporation", "NVIDIA GeForce GTX 740", "nvidia-kepler"),
        ("NVIDIA Corporation", "Orin", "nvidia-orin"),
        ("NVIDIA Corporation", "NVIDIA Thor", "nvidia-thor"),
        ("Intel(R) Corporation", "Intel(R) Iris(R) Xe Graphics", "intel-xe-lp"),
        ("Intel(R) Corporation", "Intel(R) UHD Graphics 770", "intel-xe-lp"),
        ("Intel(R) Corporation", "Intel(R) Arc(TM) Graphics", "intel-xe-lp"),
        ("Intel(R) Corporation", "Intel(R) Arc(TM) A770 Graphics", "intel-xe-hpg"),
        ("Intel(R) Corporation", "Intel(R) Arc(TM) B580 Graphics", "intel-xe2"),
        ("Intel(R) Corporation", "Intel(R) Arc(TM) 140V GPU", "intel-xe2"),
        ("Apple", "Apple M2 Pro", "apple-m1"),
        ("Apple", "Apple M4 Max", "apple-m3"),
        ("QUALCOMM", "QUALCOMM Adreno(TM) 830", "qualcomm-adreno-8xx"),
        ("QUALCOMM", "Qualcomm(R) Adreno(TM) X1-85 GPU", "qualcomm-adreno-8xx"),
        ("ARM", "Immortalis-G925", "arm-mali-gen5"),
        ("ARM", "Mali-G78", "arm-mali-valhall"),
    ],
)
def test_devices_are_recognised_by_name(vendor, name, model):
    assert match_device(vendor, name, {"type": "gpu"}) == model


def test_capabilities_name_the_generation():
    for capability, model in (("8.0", "nvidia-ampere"), ("8.7", "nvidia-orin"), ("11.0", "nvidia-thor")):
        assert match_device("NVIDIA", "GPU", {"compute_capability": capability}) == model
