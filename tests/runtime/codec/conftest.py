"""What the tests of the codec share."""

import pytest
from tests.runtime.codec.formats import FORMATS, Format


@pytest.fixture(params=[name for name in FORMATS if "batch" in FORMATS[name].roles])
def batched(request: pytest.FixtureRequest) -> Format:
    """Return each format that has batches in turn."""
    return FORMATS[request.param]


@pytest.fixture(params=FORMATS, scope="session")
def form(request: pytest.FixtureRequest) -> Format:
    """Return each format in turn."""
    return FORMATS[request.param]
