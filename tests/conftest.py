"""Fixtures and markers of all tests.

`make test` runs what needs neither Java nor a browser nor the corpora nor a package index, and is not slow; `make
test-all` runs everything.  Of the numbered cases of a test the first ones are quick, the others count as slow.  Of a
grid, a test with several independent parameters, the diagonal is quick: each value of each parameter occurs in it, not
each combination.  A test without the corpora that it reads is skipped, and the summary names it.
"""

import gc
import itertools
import math
import os
import random
import tempfile
from collections import defaultdict
from collections.abc import Generator, Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import hypothesis
import pytest

TESTS = Path(__file__).resolve().parent
CORPORA = Path(os.environ.get("STREAM_LSH_DATA", TESTS.parents[1] / "shared" / "data"))
"""The folder of the corpora: $STREAM_LSH_DATA, or `../shared/data` beside the checkout."""
NO_CORPORA = f"no corpora at {CORPORA}: set STREAM_LSH_DATA to the folder that holds newsgroups20/ and the others"

ENGINE_ROOMS = frozenset({"kafka", "embedded"})
QUICK_CASES = 5
CASE_NAMES = frozenset({"case", "seed", "seed_", "steps", "block", "start"})
"""Parameters that number the random cases of a test."""
QUICK_GRID = 10
"""Cases up to which a grid is quick as a whole."""

hypothesis.settings.register_profile("default", deadline=None, print_blob=True)
hypothesis.settings.register_profile("quick", deadline=None, print_blob=True, max_examples=10)
hypothesis.settings.load_profile("default")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    mark_slow_cases(items)
    for item in items:
        if room(item) == "kafka":
            item.add_marker(pytest.mark.kafka)
        if room(item) == "browser":
            item.add_marker(pytest.mark.browser)
        if room(item) in ENGINE_ROOMS:
            # Warnings of the engine, and what it does not close at the end of a loop.
            for ignored in ("ignore::DeprecationWarning", "ignore::ResourceWarning", "ignore::pytest.PytestWarning"):
                item.add_marker(pytest.mark.filterwarnings(ignored))
        if "data_dir" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.corpus)
        if item.get_closest_marker("corpus") and not CORPORA.is_dir():
            if os.environ.get("CI") != "true":  # there the test fails
                item.add_marker(pytest.mark.skip(reason=NO_CORPORA))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """After a test of the engine, collect what the engine did not close: warnings of it are ignored here, not later."""
    result = yield
    if room(item) in ENGINE_ROOMS:
        gc.collect()
    return result


def room(item: pytest.Item) -> str:
    """The folder of `tests` that holds the test; empty for a module of `tests` itself, and for a test of elsewhere."""
    folders = item.path.relative_to(TESTS).parts[:-1] if TESTS in item.path.parents else ()
    return folders[0] if folders else ""


def mark_slow_cases(items: Iterable[pytest.Item]) -> None:
    """Mark as slow the late ones of numbered cases, and of a grid what is not on its diagonal."""
    cases_of = defaultdict[str, list[pytest.Function]](list)
    for item in items:
        if isinstance(item, pytest.Function) and hasattr(item, "callspec"):
            if is_late(item.callspec.params):
                item.add_marker(pytest.mark.slow)
            else:
                cases_of[item.nodeid.partition("[")[0]].append(item)
    for cases in cases_of.values():
        for case, is_quick in zip(cases, diagonal([coordinates(case) for case in cases]), strict=True):
            if not is_quick:
                case.add_marker(pytest.mark.slow)


def is_late(params: Mapping[str, object]) -> bool:
    """Whether a numbered case is beyond the first ones."""
    return any(name in CASE_NAMES and isinstance(value, int) and value >= QUICK_CASES for name, value in params.items())


def coordinates(case: pytest.Function) -> tuple[tuple[int, ...], ...]:
    """The place of a case in its grid: for each parameter the identity of its value, or of its values together."""
    params = case.callspec.params
    together = [[name.strip() for name in names_of(mark)] for mark in case.iter_markers("parametrize")]
    alone = [[name] for name in params if name not in itertools.chain(*together)]
    return tuple(tuple(id(params[name]) for name in names) for names in (*together, *alone))


def names_of(mark: pytest.Mark) -> Sequence[str]:
    """The parameters that a mark sets."""
    names: str | Sequence[str] = mark.args[0] if mark.args else mark.kwargs["argnames"]
    return names.split(",") if isinstance(names, str) else names


def diagonal(cases: Sequence[tuple[Hashable, ...]]) -> list[bool]:
    """Which cases of a grid are on its diagonal; all of them where it is small, and where it is no grid.

    The longest parameter takes each of its values once, and the others go round with it.

    >>> grid = [(letter, number) for letter in "abcdef" for number in (1, 2)]
    >>> [case for case, is_quick in zip(grid, diagonal(grid)) if is_quick]
    [('a', 1), ('b', 2), ('c', 1), ('d', 2), ('e', 1), ('f', 2)]
    >>> all(diagonal([*grid, ("g", 1)]))
    True
    """
    axes = [list(dict.fromkeys(axis)) for axis in zip(*cases, strict=True)]
    longest = max(range(len(axes)), key=lambda axis: len(axes[axis]))
    if len(cases) <= QUICK_GRID or len(cases) != math.prod(map(len, axes)):
        return [True] * len(cases)
    places = [[values.index(value) for values, value in zip(axes, case, strict=True)] for case in cases]
    return [all(at == place[longest] % len(axis) for at, axis in zip(place, axes, strict=True)) for place in places]


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
    if not CORPORA.is_dir():
        pytest.fail(NO_CORPORA)
    return CORPORA


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """A fixed seed per test, printed when the test fails."""
    value = random.Random(request.node.nodeid).getrandbits(32)
    print(f"seed {value}")
    return value
