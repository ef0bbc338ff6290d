"""What is kept from file to file has a bound in size, and not in number alone."""

import gc

from clmap_lsp.access.polynomial import Op, Operation, global_id, local_id, poly
from clmap_lsp.analysis import session as sessions
from clmap_lsp.analysis.content import KeptBySize
from clmap_lsp.analysis.session import AnalysisSession
from clmap_lsp.devices.catalogue import load_model
from clmap_lsp.source import ir
from clmap_lsp.source.read import read_program


def kernels(file, count, statements):
    """Return a program of kernels that no other file has."""
    texts = []
    for number in range(count):
        body = "\n".join(f"v += v * {file * 1000 + number} + {it};" for it in range(statements))
        texts.append(
            f"kernel void k{number}(global int *a) {{ int v = 1;\n{body}\na[get_global_id(0)] = v; }}"
        )
    return read_program("\n".join(texts), f"{file}.cl")


def test_the_oldest_go_where_all_are_too_large():
    kept = KeptBySize(10, 100, len)
    for number in range(8):
        kept.keep(number, "x" * 30)
    assert list(kept) == [5, 6, 7]
    assert kept.size == 90
    kept.keep(6, "x" * 10)
    assert (list(kept), kept.size) == ([5, 7, 6], 70)
    del kept[7]
    assert kept.size == 40
    kept.keep("large", "x" * 500)
    assert list(kept) == ["large"]


def test_the_last_are_kept_however_large_and_number_still_counts():
    kept = KeptBySize(4, 100, len)
    kept.least = 3
    for number in range(8):
        kept.keep(number, "x" * 200)
    assert list(kept) == [5, 6, 7]
    for number in range(8, 20):
        kept.keep(number, "x")
    assert len(kept) == 4
    assert kept.size == 4


def test_what_was_used_is_kept_longer():
    kept = KeptBySize(10, 100, len)
    for number in range(3):
        kept.keep(number, "x" * 30)
    kept.used(0)
    kept.keep(3, "x" * 30)
    assert (list(kept), kept.size) == ([2, 0, 3], 90)


def test_many_files_of_large_kernels_keep_no_more_than_few(monkeypatch):
    monkeypatch.setattr(sessions, "MOST_KEPT", 1_000)
    session, device = AnalysisSession(), load_model("h200")
    alive = []
    for file in range(12):
        session.analyse(kernels(file, 2, 100), device)
        gc.collect()
        alive.append(sum(isinstance(it, ir.Kernel) for it in gc.get_objects()))
    assert alive[-1] == alive[5]
    assert session.n_analysed == 24


def test_edits_of_a_file_larger_than_the_bound_analyse_one_kernel_each(monkeypatch):
    monkeypatch.setattr(sessions, "MOST_KEPT", 100)
    session, device = AnalysisSession(), load_model("h200")
    text, before = kernels(0, 6, 50).main_file.text, None
    for edit in range(8):
        edited = text.replace("{ int v = 1;", f"{{ int v = {edit + 2};", 1)
        program = read_program(edited, "0.cl", previous=None if before is None else before.cache)
        session.analyse(program, device)
        before = program
    assert session.n_analysed == 6 + 7


def test_the_symbols_of_an_index_count(monkeypatch):
    def chain(length):
        steps = "\n".join("v = t[v & 255] ^ (v >> 1);" for _ in range(length))
        text = f"kernel void k(global int *t, global int *o) {{ int v = o[0];\n{steps}\no[1] = v; }}"
        session = AnalysisSession()
        session.analyse(read_program(text, "k.cl"), load_model("h200"))
        return session._kernels.size / length

    assert chain(200) > 1.2 * chain(20)


def test_sets_of_symbols_are_shared_where_one_holds_the_others():
    both = poly(global_id(0)) + poly(local_id(1))
    shifted = poly(Operation(Op.SHR, (both, poly(1))))
    assert shifted.leaves is both.leaves
    assert (shifted + poly(local_id(0))).leaves == {global_id(0), local_id(1), local_id(0)}


def test_a_file_larger_than_the_bound_is_kept_whole(monkeypatch):
    monkeypatch.setattr(sessions, "MOST_KEPT", 100)
    session, device = AnalysisSession(), load_model("h200")
    program = kernels(0, 6, 50)
    session.analyse(program, device)
    session.analyse(program, device)
    assert session.n_analysed == 6
