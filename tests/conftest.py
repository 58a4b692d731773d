"""Fixtures and markers of all tests.

`make test` runs what needs neither Java nor the corpora nor a package index, and is not slow; `make test-all` runs
everything.  Of the numbered cases of a test the first ones are quick, the others count as slow.  A test without the
corpora that it reads is skipped, and the summary names it.
"""

import os
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

TESTS = Path(__file__).resolve().parent
CORPORA = Path(os.environ.get("STREAM_LSH_DATA", TESTS.parents[1] / "shared" / "data"))
"""The folder of the corpora: $STREAM_LSH_DATA, or `../shared/data` beside the checkout."""
NO_CORPORA = f"no corpora at {CORPORA}: set STREAM_LSH_DATA to the folder that holds newsgroups20/ and the others"

QUICK_CASES = 5
CASE_NAMES = frozenset({"case", "seed", "seed_", "steps", "block", "start"})
"""Parameters that number the random cases of a test."""

hypothesis.settings.register_profile("default", deadline=None, print_blob=True)
hypothesis.settings.register_profile("quick", deadline=None, print_blob=True, max_examples=10)
hypothesis.settings.load_profile("default")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        folders = item.path.relative_to(TESTS).parts[:-1] if TESTS in item.path.parents else ()
        if folders[:1] == ("kafka",):
            item.add_marker(pytest.mark.kafka)
        if folders[:1] in (("kafka",), ("embedded",)):
            # Warnings of the engine, and what it does not close at the end of a loop.
            for ignored in ("ignore::DeprecationWarning", "ignore::ResourceWarning", "ignore::pytest.PytestWarning"):
                item.add_marker(pytest.mark.filterwarnings(ignored))
        numbers = getattr(item, "callspec", None)
        if numbers is not None and any(
            name in CASE_NAMES and isinstance(value, int) and value >= QUICK_CASES
            for name, value in numbers.params.items()
        ):
            item.add_marker(pytest.mark.slow)
        if "data_dir" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.corpus)
        if item.get_closest_marker("corpus") and not CORPORA.is_dir():
            item.add_marker(pytest.mark.skip(reason=NO_CORPORA))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = [one for one in terminalreporter.stats.get("skipped", ()) if NO_CORPORA in str(one.longrepr)]
    if skipped:
        terminalreporter.write_line(f"{len(skipped)} tests of corpora skipped: {NO_CORPORA}")
        for one in skipped:
            terminalreporter.write_line(f"    {one.nodeid}")


@pytest.fixture(scope="session", autouse=True)
def temporary_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Folders of `tempfile` are made among those of pytest, which removes them."""
    before, tempfile.tempdir = tempfile.tempdir, str(tmp_path_factory.mktemp("made"))
    yield
    tempfile.tempdir = before


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of the corpora."""
    return CORPORA


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """A fixed seed per test, printed when the test fails."""
    value = random.Random(request.node.nodeid).getrandbits(32)
    print(f"seed {value}")
    return value
