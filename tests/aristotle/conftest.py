"""A device for the tests marked `pocl`; skipped where there is none."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from clmap_lsp.opencl_device import DeviceMissingError
from clmap_lsp.opencl_device.session import Session


@pytest.fixture(scope="session")
def session() -> Iterator[Session]:
    try:
        yield Session()
    except DeviceMissingError as error:
        pytest.skip(str(error))
