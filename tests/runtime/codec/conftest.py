"""What the tests of the codec share."""

import pytest
from tests.runtime.codec.formats import FORMATS, JSON_FORMATS, Format, JsonFormat


@pytest.fixture(params=[name for name in FORMATS if "batch" in FORMATS[name].roles])
def batched(request: pytest.FixtureRequest) -> Format:
    """Return each format that has batches in turn."""
    return FORMATS[request.param]


@pytest.fixture(params=FORMATS, scope="session")
def form(request: pytest.FixtureRequest) -> Format:
    """Return each format in turn."""
    return FORMATS[request.param]


@pytest.fixture(params=JSON_FORMATS, scope="session")
def json_format(request: pytest.FixtureRequest) -> JsonFormat:
    """Return each format in JSON in turn."""
    return JSON_FORMATS[request.param]


@pytest.fixture(params=[name for name in JSON_FORMATS if "batch" in JSON_FORMATS[name].roles])
def json_batched(request: pytest.FixtureRequest) -> JsonFormat:
    """Return each format in JSON that has batches in turn."""
    return JSON_FORMATS[request.param]
