"""What several of the emulator's tests need."""

import pytest


@pytest.fixture(scope="module")
def queue():
    """Return a command queue on PoCL; tests that compare with it are skipped where it is not installed."""
    cl = pytest.importorskip("pyopencl")
    try:
        platforms = [it for it in cl.get_platforms() if "Portable" in it.name]
    except cl.Error:
        platforms = []
    if not platforms:
        pytest.skip("PoCL is not installed")
    return cl.CommandQueue(cl.Context(platforms[0].get_devices()))
