"""What results on disk are kept under."""

from dataclasses import replace

from clmap_lsp.analysis.session import AnalysisSession
from clmap_lsp.config import Settings
from clmap_lsp.devices import load_model
from clmap_lsp.source.read import read_program
from clmap_lsp.worker.keys import content_key

TEXT = """// clmap: global=256 local=64 idx={idx} out=zeros(256) n={n}
__kernel void k(__global const int *idx, __global float *out, float n)
{{
    out[get_global_id(0)] = idx[get_global_id(0)] * n;
}}
"""


DEFAULTS = Settings()


def key_of(idx="zeros(256)", n="1.0f", settings=DEFAULTS, device="nvidia-hopper", before=""):
    program = read_program(before + TEXT.format(idx=idx, n=n), "k.cl", settings.build)
    model = load_model(device) if isinstance(device, str) else device
    kernel = AnalysisSession().analyse(program, model).kernels[0]
    return content_key(program, kernel, settings, model)


def test_files_that_are_read_count_by_their_contents(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # The kernel has no folder; a file from elsewhere would not be read.
    file = tmp_path / "idx.bin"
    file.write_bytes(bytes(1024))
    before = key_of(f"file:{file}")
    assert key_of(f"file:{file}") == before
    file.write_bytes(bytes(1023) + b"\1")
    assert key_of(f"file:{file}") != before


def test_arguments_count_to_the_last_bit():
    assert key_of(n="0.1f") != key_of(n="0.1000001f")


def test_a_device_counts_by_what_it_says():
    model = load_model("nvidia-hopper")
    assert key_of(device=replace(model, line_bytes=64)) != key_of(device=model)
    assert key_of(device=replace(model)) == key_of(device=model)


def test_build_options_count_and_comments_elsewhere_do_not():
    other = replace(DEFAULTS, build=replace(DEFAULTS.build, defines=(("A", "1"),)))
    assert key_of(settings=other) != key_of()
    assert key_of(before="// a comment\n") == key_of()
