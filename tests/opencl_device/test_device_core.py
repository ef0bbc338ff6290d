"""The device layer: statistics anywhere, sessions and timing where there is an OpenCL platform."""

from __future__ import annotations

import builtins

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clmap_lsp.opencl_device import (
    BuildError,
    DeviceError,
    DeviceFacts,
    DeviceKind,
    DeviceMissingError,
    LaunchError,
)
from clmap_lsp.opencl_device.find import list_devices
from clmap_lsp.opencl_device.session import Session
from clmap_lsp.opencl_device.statistics import median_interval_rank, summarise
from clmap_lsp.opencl_device.timing import CacheState, Effort, Timed, Timer


@given(st.lists(st.floats(1e-6, 1e3), min_size=1, max_size=60))
def test_the_summary_is_ordered_and_within_the_data(values: list[float]) -> None:
    sample = summarise(values)
    assert sample.minimum <= sample.low <= sample.median <= sample.high <= sample.maximum
    assert sample.runs == len(values)
    assert sample.mean == pytest.approx(np.mean(values))
    assert sample.deviation == pytest.approx(np.std(values), abs=1e-9 * max(values))


def test_median_interval_ranks_are_those_of_the_binomial_tables() -> None:
    # Conover, Practical Nonparametric Statistics: n=11 takes the 2nd and 10th, n=20 the 6th and 15th.
    assert median_interval_rank(5, 0.95) == 0
    assert median_interval_rank(11, 0.95) == 1
    assert median_interval_rank(20, 0.95) == 5


def test_an_empty_series_is_refused() -> None:
    with pytest.raises(ValueError, match="no runs"):
        summarise([])


def test_without_pyopencl_the_message_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    original = builtins.__import__

    def refuse(name: str, *args: object, **kwargs: object) -> object:
        if name == "pyopencl":
            raise ImportError("No module named 'pyopencl'")
        return original(name, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(DeviceMissingError, match=r"clmap-lsp\[device\]"):
        list_devices()


def test_buffer_sizes_come_from_the_device() -> None:
    facts = DeviceFacts(
        0, "d", "v", DeviceKind.CPU, "p", "1", "1", "1", 2, 1000, 256, (256, 1, 1), 8 << 30, 2 << 30,
        32 << 20, 64, 32768, False, True, 1,
    )  # fmt: skip
    assert facts.last_level_bytes == 32 << 20
    assert facts.beyond_cache_bytes == 128 << 20


@pytest.mark.pocl
class TestOnADevice:
    @pytest.fixture(autouse=True)
    def device(self) -> None:
        try:
            list_devices()
        except DeviceMissingError as error:
            pytest.skip(str(error))

    def test_an_unknown_name_lists_what_is_there(self) -> None:
        with pytest.raises(DeviceMissingError, match="there is 0: "):
            Session("no such device")

    def test_a_kernel_runs_and_is_timed(self) -> None:
        session = Session()
        program = session.build(
            "__kernel void twice(__global int *a) { a[get_global_id(0)] = 2 * (int)get_global_id(0); }"
        )
        kernel = session.kernel(program, "twice")
        buffer = session.buffer(4 * 1024)
        session.fill(buffer, 0xFF, 4 * 1024)
        timer = Timer(session)
        launch = Timed(kernel, (buffer,), (1024,), (64,))
        effort = Effort(min_runs=3, max_runs=3)
        for cache in CacheState:
            samples = timer.compare({"one": launch, "two": launch}, cache, effort)
            assert {name: len(it) for name, it in samples.items()} == {"one": 3, "two": 3}
            assert all(it > 0 for series in samples.values() for it in series)
        assert timer.overhead((1024,), (64,), runs=3) > 0
        assert session.read(buffer, np.int32, 1024).tolist() == [2 * it for it in range(1024)]

    def test_the_compilers_words_come_with_the_error(self) -> None:
        with pytest.raises(BuildError) as caught:
            Session().build("__kernel void broken(__global int *a) { a[0] = undeclared; }")
        assert "undeclared" in caught.value.log

    def test_a_launch_that_does_not_fit_leaves_the_session_good(self) -> None:
        session = Session()
        kernel = session.kernel(session.build("__kernel void nothing(__global int *a) {}"), "nothing")
        buffer = session.buffer(4)
        session.set_arguments(kernel, buffer)
        with pytest.raises(LaunchError):
            session.launch(kernel, (1 << 20,), (1 << 19,))
        with pytest.raises(DeviceError, match="beyond its limit"):
            session.buffer(1 << 62)
        session.launch(kernel, (64,), (64,))
        session.finish()
