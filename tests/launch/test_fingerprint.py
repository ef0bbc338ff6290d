"""What results are kept under: whatever changes a figure of a launch changes its fingerprint."""

import os
from dataclasses import replace

import pytest

from clmap_lsp.launch import BufferArgument, Fill, Launch, LocalArgument, Origin, ScalarArgument

LAUNCH = Launch(
    "k",
    (256,),
    (64,),
    {"N": ScalarArgument((256,)), "A": BufferArgument(Fill.RANDOM, 256), "tile": LocalArgument(64)},
)


def with_argument(name, argument):
    return replace(LAUNCH, arguments={**LAUNCH.arguments, name: argument})


@pytest.mark.parametrize(
    "other",
    [
        replace(LAUNCH, kernel="other"),
        replace(LAUNCH, global_size=(512,)),
        replace(LAUNCH, local_size=(32,)),
        replace(LAUNCH, global_offset=(64,)),
        replace(LAUNCH, origin=Origin.GIVEN),
        replace(LAUNCH, inferred=frozenset({"N"})),
        with_argument("N", ScalarArgument((512,))),
        with_argument("N", ScalarArgument((256.0,))),
        with_argument("A", BufferArgument(Fill.RANDOM, 257)),
        with_argument("A", BufferArgument(Fill.RANDOM, 256, seed=1)),
        with_argument("A", BufferArgument(Fill.RANDOM, 256, element="char")),
        with_argument("A", BufferArgument(Fill.FILE, 256, text="there-is-no-such-file")),
        with_argument("tile", LocalArgument(65)),
        with_argument("tile", ScalarArgument((64,))),
    ],
)
def test_every_part_counts(other):
    assert other.fingerprint() != LAUNCH.fingerprint()


def test_numbers_count_to_the_last_bit():
    prints = {with_argument("x", ScalarArgument((it,))).fingerprint() for it in (0.1, 0.1000001, 0.0, -0.0)}
    assert len(prints) == 4


def test_where_it_was_found_and_the_order_of_arguments_do_not_count():
    turned = dict(reversed(LAUNCH.arguments.items()))
    assert replace(LAUNCH, source="line 3", arguments=turned).fingerprint() == LAUNCH.fingerprint()


def reading(path):
    return with_argument("A", BufferArgument(Fill.FILE, 0, text=str(path)))


def test_a_file_counts_by_its_contents(tmp_path):
    file, copy = tmp_path / "a.bin", tmp_path / "b.bin"
    file.write_bytes(b"same size 1")
    first = reading(file).fingerprint()
    assert reading(file).fingerprint() == first
    file.write_bytes(b"same size 2")
    assert reading(file).fingerprint() != first
    file.write_bytes(b"same size 1")
    assert reading(file).fingerprint() == first
    file.unlink()
    assert reading(file).fingerprint() != first
    copy.write_bytes(b"same size 1")
    assert reading(copy).fingerprint() != first, "another name is another launch"


def test_an_old_file_that_changes_is_seen(tmp_path):
    """Digests of files that rest are remembered; a change of their time forgets them."""
    file = tmp_path / "a.bin"
    prints = []
    for contents, time in ((b"one", 1_000_000_000), (b"two", 1_000_000_001), (b"one", 1_000_000_000)):
        file.write_bytes(contents)
        os.utime(file, (time, time))
        prints.append(reading(file).fingerprint())
    assert prints[0] == prints[2] != prints[1]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_what_is_no_regular_file_is_not_read(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert reading(pipe).fingerprint() == reading(pipe).fingerprint()
    assert reading(tmp_path).fingerprint() != reading(pipe).fingerprint()
