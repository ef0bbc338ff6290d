"""What server and worker say to each other arrives as it was sent; anything else is refused."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clmap_lsp.config import EmulateSettings
from clmap_lsp.findings import Edit, Finding, Fix, FixSafety, Related, Severity
from clmap_lsp.fixes.matching import Offer
from clmap_lsp.launch import BufferArgument, Fill, Launch, LocalArgument, Origin, ScalarArgument
from clmap_lsp.source.options import BuildOptions
from clmap_lsp.source.span import Span
from clmap_lsp.worker.messages import (
    BadMessageError,
    KernelTask,
    Offered,
    Ran,
    Region,
    VerifiedOffer,
    as_data,
    from_data,
)

numbers = st.one_of(st.integers(-(2**64), 2**64), st.floats(allow_nan=False))
sizes = st.lists(st.integers(1, 2**40), min_size=1, max_size=3).map(tuple)
arguments = st.one_of(
    st.builds(
        BufferArgument,
        st.sampled_from(Fill),
        st.integers(0, 2**40),
        st.integers(0, 9),
        st.text(max_size=9),
        st.sampled_from(["", "char"]),
        sizes,
    ),
    st.builds(LocalArgument, st.integers(1, 2**20)),
    st.builds(ScalarArgument, st.lists(numbers, min_size=1, max_size=16).map(tuple), st.just("")),
)
launches = st.builds(
    Launch,
    st.just("k"),
    sizes,
    sizes,
    st.dictionaries(st.sampled_from("abcd"), arguments),
    st.sampled_from(Origin),
    st.frozensets(st.sampled_from(["global", "a"])),
    sizes,
)


def sent(data):
    """Return what arrives through a pipe."""
    return json.loads(json.dumps(data))


@given(launches)
def test_a_task_arrives_to_the_last_bit(launch):
    build = BuildOptions((("N", "16"),), ("M",), ("include",))
    task = KernelTask(
        "key", "k.cl", {"k.cl": "text"}, build, "cpu", "k", launch, EmulateSettings(True, 0.1, 64)
    )
    arrived = from_data(sent(as_data(task)), KernelTask)
    assert arrived == task
    assert arrived.launch.fingerprint() == launch.fingerprint()


def test_infinite_arguments_arrive():
    launch = Launch("k", (1,), (1,), {"x": ScalarArgument((math.inf, -0.0))})
    assert str(from_data(sent(as_data(launch)), Launch)) == str(launch)


KERNEL = Span("k.cl", 100, 200)
FINDING = Finding(
    "CM301",
    "out-of-bounds",
    "a message",
    Severity.ERROR,
    Span("k.cl", 120, 130),
    "k",
    (Related(Span("other.h", 3, 4), "declared here"),),
    Fix("title", FixSafety.UNSAFE, (Edit(Span("k.cl", 90, 95), "new"),), {"launch": "64"}, None, ("n % 4",)),
    True,
    {"occurrences": 3},
)


def test_findings_keep_all_that_they_hold_and_move_with_their_kernel():
    data = sent(as_data(Ran(7, {"kernel": "k"}, (FINDING,)), KERNEL))
    assert from_data(data, Ran, KERNEL) == Ran(7, {"kernel": "k"}, (FINDING,))
    moved = from_data(data, Ran, Span("moved.cl", 110, 210)).findings[0]
    assert moved.span == Span("moved.cl", 130, 140)
    assert moved.related[0].span == Span("other.h", 3, 4)
    assert moved.fix is not None and moved.fix.edits[0].span == Span("moved.cl", 100, 105)


def test_an_offer_fits_as_long_as_its_text_stands():
    text = "0123456789" * 30
    assert FINDING.fix is not None
    offer = Offer(FINDING.fix, "swap", 7, frozenset({"CM301"}), frozenset({FINDING.span}), (-2.0, 5))
    offered = Offered((VerifiedOffer(offer, Region.of(Span("k.cl", 90, 200), text)),), complete=False)
    arrived = from_data(sent(as_data(offered, KERNEL)), Offered, KERNEL)
    assert arrived == offered
    assert arrived.fixes[0].region.is_in(text)
    assert not arrived.fixes[0].region.is_in(text[:150] + "x" + text[151:])
    assert arrived.fixes[0].offer.answers(FINDING)
    moved = from_data(sent(as_data(offered, KERNEL)), Offered, Span("k.cl", 103, 203)).fixes[0]
    assert moved.region.is_in("abc" + text)
    gone = from_data(sent(as_data(offered, KERNEL)), Offered, Span("k.cl", 5, 105)).fixes[0]
    assert not gone.region.is_in(text)


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {},
        {"row": "x", "emulation": {}},
        {"row": 1, "emulation": {}, "findings": [{"code": "CM301"}]},
        {"row": 1, "emulation": {}, "findings": [{**as_data(FINDING, KERNEL), "span": ["k.cl", "1", 2]}]},
        {"row": 1, "emulation": {}, "findings": [{**as_data(FINDING, KERNEL), "severity": "fatal"}]},
    ],
)
def test_what_is_no_such_message_is_refused(data):
    with pytest.raises(BadMessageError):
        from_data(data, Ran, KERNEL)
