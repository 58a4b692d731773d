"""What every test may ask for."""

import os
import random
from pathlib import Path

import hypothesis
import pytest

hypothesis.settings.register_profile("default", deadline=None, print_blob=True)
hypothesis.settings.load_profile("default")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of the corpora: $STREAM_LSH_DATA, or `../shared/data` beside the checkout."""
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("STREAM_LSH_DATA", default))
    if not folder.is_dir():
        pytest.fail(
            f"no corpora at {folder}: set STREAM_LSH_DATA to the folder that holds newsgroups20/ and the others"
        )
    return folder


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """A fixed seed per test, printed when the test fails."""
    value = random.Random(request.node.nodeid).getrandbits(32)
    print(f"seed {value}")
    return value
