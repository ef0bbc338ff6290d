"""`clmap.toml`: found upward, read, checked with places and cures, and published as JSON schema."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clmap_lsp.config import ConfigError, Settings, find, load, parse
from clmap_lsp.config.schema import SCHEMA_PATH, schema_text
from clmap_lsp.source.ir import Severity

FULL = """
device = "nvidia-hopper"
fail-on = "error"
exclude = ["third_party/**"]
[build]
defines = {TILE = 16, NAME = "x", FLAG = true}
include = ["include"]
standard = "CL2.0"
[rules]
ignore = ["CM103"]
severity = {CM101 = "error"}
[launch.mm_simple]
global = [256, 256]
local = [16, 16]
args = {N = 256, A = "random(N*N)"}
[launch.scan]
global = 4096
[[override]]
paths = ["old/*.cl"]
device = "amd-cdna3"
ignore = ["CM2"]
defines = ["OLD", "K=3"]
[[override]]
paths = ["old/strict"]
select = ["CM101"]
"""


def faults(text: str, **known: list[str]) -> list[tuple[int, int, str]]:
    with pytest.raises(ConfigError) as caught:
        parse("clmap.toml", text, **known)
    file = caught.value.file
    return [
        (file.position(it.span.start).row, file.position(it.span.start).column, it.message)
        for it in caught.value.faults
    ]


def test_everything_is_read(tmp_path: Path) -> None:
    settings = parse(str(tmp_path / "clmap.toml"), FULL)
    assert settings.device == "nvidia-hopper"
    assert settings.build.defines == (("TILE", "16"), ("NAME", "x"), ("FLAG", "1"))
    assert settings.build.include_dirs == (str(tmp_path / "include"),)
    assert settings.build.standard == "CL2.0"
    assert settings.rules.severity == {"CM101": Severity.ERROR}
    launch = settings.launches["mm_simple"]
    assert (launch.global_size, launch.local_size) == ((256, 256), (16, 16))
    assert launch.arguments == {"N": "256", "A": "random(N*N)"}
    assert launch.source == "clmap.toml:12"
    assert settings.launches["scan"].global_size == (4096,)
    assert settings.launches["scan"].local_size == ()


def test_overrides_apply_in_order_to_the_paths_they_name(tmp_path: Path) -> None:
    settings = parse(str(tmp_path / "clmap.toml"), FULL)
    other = settings.for_path(str(tmp_path / "new" / "a.cl"))
    assert other == settings
    old = settings.for_path(str(tmp_path / "old" / "a.cl"))
    assert old.device == "amd-cdna3"
    assert old.rules.ignore == ("CM103", "CM2")
    assert old.build.defines[-2:] == (("OLD", "1"), ("K", "3"))
    assert old.rules.select == ("ALL",)
    strict = settings.for_path(str(tmp_path / "old" / "strict" / "deep" / "a.cl"))
    assert strict.rules.select == ("CM101",)
    assert settings.excludes(str(tmp_path / "third_party" / "x" / "a.cl"))
    assert not settings.excludes(str(tmp_path / "a.cl"))


def test_nearest_file_upward_is_found(tmp_path: Path) -> None:
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    (deep / "k.cl").write_text("")
    (tmp_path / "clmap.toml").write_text('device = "outer"')
    assert find(deep / "k.cl") == tmp_path / "clmap.toml"
    (tmp_path / "a" / "clmap.toml").write_text('device = "inner"')
    found = find(deep / "k.cl")
    assert found is not None
    assert load(found).device == "inner"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = ", [(1, 5, "not valid TOML: invalid value")]),
        ("devise = 'a'", [(1, 1, 'unknown key "devise"; did you mean "device"?')]),
        ("\ndevice = 3", [(2, 10, "expected a string, found the number 3")]),
        ("[launch.f]\nglobal = [1, 2, 3, 4]", [(2, 10, "expected 1 to 3 entries, found 4")]),
        ("[launch.f]\nglobal = [16, 0]", [(2, 15, "expected at least 1, found 0")]),
        ("[launch.f]\nlocal = true", [(2, 9, "expected 1 to 3 sizes, found true")]),
        ("[[override]]\nignore = []", [(1, 3, 'missing key "paths"')]),
        ("[[override]]\npaths=['a']\n[[override]]\npaths=['b']\nignor=[]", [(5, 1, None)]),
        ("build = {standart = 'CL1.2'}", [(1, 10, 'unknown key "standart"; did you mean "standard"?')]),
        ("fail-on = 'warn'", [(1, 11, 'unknown value "warn"; did you mean "warning"?')]),
        ("[emulate]\ntime-limit = 0", [(2, 14, "expected a number above 0, found 0")]),
        ("é = 1", [(1, 1, None)]),
        ("build.defines = {'1x' = 1}", [(1, 18, 'expected a macro\'s name, such as TILE, found "1x"')]),
        ("build.defines = ['A=1', '=2']", [(1, 25, 'expected a macro\'s name, such as TILE, found "=2"')]),
        ("[build]\ndefines = {A = [1]}", [(2, 16, "expected a string or a number, found a list")]),
    ],
)
def test_faults_name_place_cause_and_cure(text: str, expected: list[tuple[int, int, str | None]]) -> None:
    found = faults(text)
    assert [it[:2] for it in found] == [it[:2] for it in expected]
    for (_, _, message), (_, _, wanted) in zip(found, expected, strict=True):
        assert wanted is None or message == wanted


def test_all_faults_at_once_and_known_names() -> None:
    text = (
        'device = "nvidia-hoper"\n[rules]\nignore = ["CM111"]\n[rules.severity]\nCM101 = "loud"\nX = "error"'
    )
    found = faults(text, devices=["nvidia-hopper", "generic-gpu"], rules=["CM101", "CM102", "ALL"])
    assert found == [
        (1, 10, 'unknown value "nvidia-hoper"; did you mean "nvidia-hopper"?'),
        (3, 11, 'unknown value "CM111"; known: ALL, CM101, CM102'),
        (5, 9, 'unknown value "loud"; known: error, hint, information, warning'),
        (6, 1, 'unknown name "X"; known: ALL, CM101, CM102'),
    ]


def test_many_names_are_listed_by_a_command() -> None:
    many = [f"model-{it}" for it in range(100)]
    assert faults('device = "nope"', devices=many) == [
        (1, 10, 'unknown value "nope"; clmap-lsp devices lists them')
    ]
    assert faults('rules.select = ["CM999"]', rules=many)[0][2].endswith("; clmap-lsp rules lists them")


def test_a_mark_of_the_encoding_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "clmap.toml").write_bytes(b"\xef\xbb\xbfdevice = 'nvidia-hopper'\r\n")
    assert load(tmp_path / "clmap.toml").device == "nvidia-hopper"


def test_not_utf8_is_one_clear_fault(tmp_path: Path) -> None:
    path = tmp_path / "clmap.toml"
    path.write_bytes(b"device = '\xff'")
    with pytest.raises(ConfigError, match=r"clmap\.toml:1:1: not UTF-8 \(byte 10\)"):
        load(path)


def test_published_schema_is_current() -> None:
    assert SCHEMA_PATH.read_text(encoding="utf-8") == schema_text(), "run: python -m clmap_lsp.config.schema"


def test_schema_is_valid_and_accepts_what_is_read() -> None:
    schema = json.loads(SCHEMA_PATH.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(tomllib.loads(FULL), schema)


_VALUES = st.recursive(
    st.booleans() | st.integers(-3, 300) | st.text("ab", max_size=3),
    lambda it: st.lists(it, max_size=4) | st.dictionaries(st.sampled_from(["global", "args", "x"]), it),
    max_leaves=5,
)
_KEYS = ["device", "fail-on", "exclude", "build", "rules", "launch", "override", "other"]


@given(st.dictionaries(st.sampled_from(_KEYS), _VALUES, max_size=3))
def test_reader_and_schema_agree(data: dict[str, object]) -> None:
    """What the published schema takes is what the reader takes, so that editors tell the truth."""
    from clmap_lsp.config.document import document

    schema = json.loads(SCHEMA_PATH.read_text(encoding="utf-8"))
    by_schema = jsonschema.Draft202012Validator(schema).is_valid(data)
    assert by_schema == (not list(document().check(data, ())))


def test_defaults_are_those_of_an_empty_file(tmp_path: Path) -> None:
    settings = parse(str(tmp_path / "clmap.toml"), "")
    assert settings.rules == Settings().rules
    assert settings.build == Settings().build
    assert settings.device == "generic-gpu"
