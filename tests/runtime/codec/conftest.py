"""What the tests of the codec share."""

import pytest
from hypothesis import HealthCheck, settings
from tests.runtime.codec.formats import FORMATS, Format

settings.register_profile(
    "codec",
    deadline=None,
    max_examples=60,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.filter_too_much,
        HealthCheck.data_too_large,
    ],
)
settings.load_profile("codec")


@pytest.fixture(params=FORMATS, scope="session")
def form(request: pytest.FixtureRequest) -> Format:
    """Return each format in turn."""
    return FORMATS[request.param]
