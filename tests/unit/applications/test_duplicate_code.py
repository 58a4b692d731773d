"""Duplicate code in memory: renamed and edited copies, languages apart, exact similarities."""

from collections import Counter
from typing import Any

import pytest

from stream_lsh import ConfigError, DuplicateCode

TOTAL = """\
def total(items, start=0):
    # adds up
    result = start
    for one in items:
        if one is not None:
            result += one.value * 2
    return result
"""
RENAMED = """\
import os


class Sums:
    def add_up(xs, s0=7):
        '''Adds up.'''
        s = s0
        for x in xs:
            if x is not None: s += x.amount * 3

        return s
"""
OTHER = """\
def read(path):
    with open(path) as file:
        lines = [line.strip().split(",") for line in file]
    return {key: int(value) for key, value, *_ in lines if key}
"""


def code(*sources: tuple[str, str] | tuple[str, str, str], **settings: object) -> DuplicateCode:
    made = DuplicateCode(least_tokens=20, **settings)  # type: ignore[arg-type]
    for source in sources:
        made.add(*source)
    return made


def runs(tokens: list[str], k: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(tokens[at : at + k]) for at in range(len(tokens) - k + 1))


def test_the_aliases_of_a_language_are_one_language() -> None:
    matches = code(("a.py", TOTAL, "py"), ("b.py", RENAMED, "python3")).matches()
    assert matches == code(("a.py", TOTAL), ("b.py", RENAMED)).matches() != []


def test_a_copy_that_was_renamed_from_head_to_foot_is_the_same() -> None:
    (match,) = code(("b.py", RENAMED), ("a.py", TOTAL), ("c.py", OTHER)).matches()
    assert match.similarity == 1.0
    assert (match.left.path, match.left.name, match.left.line, match.left.last_line) == ("a.py", "total", 1, 7)
    assert (match.right.path, match.right.name, match.right.line, match.right.last_line) == (
        "b.py",
        "Sums.add_up",
        5,
        11,
    )


def test_an_edited_copy_has_the_similarity_of_its_runs_of_tokens_with_their_counts() -> None:
    tokens = "def N ( N ) : N = N N = N N ( N ) return N + N + N + N".split()
    edited = "def N ( N ) : N = N N = N N ( N , N ) return N + N + N + N".split()
    source = "def f(a):\n    b = a\n    c = b\n    g(c)\n    return a + b + c + d\n"
    (match,) = code(("a.py", source), ("b.py", source.replace("g(c)", "g(c, a)")), run=4).matches()
    one, other = runs(tokens, 4), runs(edited, 4)
    assert match.similarity == (one & other).total() / (one | other).total()


def test_names_count_if_that_is_wanted() -> None:
    assert code(("a.py", TOTAL), ("b.py", RENAMED), names=True).matches() == []
    assert len(code(("a.py", TOTAL), ("b.py", f"\n{TOTAL}"), names=True).matches()) == 1


def test_short_functions_are_left_out() -> None:
    sources = DuplicateCode(least_tokens=60)
    sources.add("a.py", TOTAL)
    sources.add("b.py", RENAMED)
    assert (len(sources), sources.matches()) == (0, [])


def test_languages_are_never_compared() -> None:
    source = "function add(a, b) { let c = a + b; for (;;) { c = c * a - b; } return c / (a - b); }"
    sources = (("a.js", source, "javascript"), ("b.js", source, "javascript"), ("c.ts", source, "typescript"))
    assert [(one.left.path, one.right.path) for one in code(*sources).matches()] == [("a.js", "b.js")]


def test_files_are_compared_as_a_whole_if_that_is_wanted() -> None:
    (match,) = code(("a.py", TOTAL + OTHER), ("b.py", f"# copied\n{TOTAL}{OTHER}"), whole_files=True).matches()
    assert (match.left.name, match.left.line, match.left.last_line) == ("", 1, 11)
    assert match.similarity == 1.0


def test_groups_are_what_matches_connect_the_largest_first() -> None:
    sources = code(("a.py", TOTAL), ("b.py", RENAMED), ("c.py", TOTAL), ("d.py", OTHER), ("e.py", OTHER))
    assert [[one.path for one in group] for group in sources.groups()] == [["a.py", "b.py", "c.py"], ["d.py", "e.py"]]
    matches, groups = sources.found()
    assert (matches, groups) == (sources.matches(), sources.groups())
    assert len(matches) == 4


def test_unparsable_source_is_compared_as_a_whole() -> None:
    broken = TOTAL.replace("def total", "def def total")
    (match,) = code(("a.py", broken), ("b.py", broken)).matches()
    assert match.left.name == match.right.name == ""


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"threshold": 0}, "threshold"), ({"run": 0}, "did you mean"), ({"least_tokens": 0}, "least_tokens")],
)
def test_invalid_settings_are_rejected_before_the_first_source(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        DuplicateCode(**settings)


def test_an_unknown_language_is_rejected() -> None:
    with pytest.raises(ConfigError, match="'python'"):
        DuplicateCode().add("a.py", "x", "pyton")
