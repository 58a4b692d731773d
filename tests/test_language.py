"""The words of the project: plain technical English in code, documentation and messages.

A component publishes, stores, compares, rejects or reports; it does not tell or say.  No person stands for a process.

python -m tests.test_language [PATH ...]      lists the places
"""

import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
WORDS = {
    "told": "reported, published, given",
    "tell": "report, show, distinguish",
    "tells": "reports, shows",
    "telling": "reporting",
    "said": "reported, stated, stored",
    "says": "reports, states, defines, shows",
    "somebody": "a user, a program, another worker",
    "nobody": "no worker, no program, no document",
    "anybody": "any program",
    "whoever": "the caller, the program that",
    "put aside": "rejected",
    "so many": "this many, the number",
    "anew": "again, from scratch",
    "be it": "whether",
}
"""Words that do not occur, with what stands in their place."""
_WORD = re.compile(rf"(?<![a-z])({'|'.join(WORDS)})(?![a-z])", re.IGNORECASE)
_CLAUSE = re.compile(r'"""(?:What|Who) ')
"""A docstring that starts with a clause: its subject is a component or a value."""
PATHS: Sequence[str] = (
    "README.md",
    "benchmarks",
    "deploy",
    "docker-compose.yml",
    "docs",
    "pyproject.toml",
    "stream_lsh",
    "tests",
)
"""The paths that are checked."""
_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_TEST_ID = re.compile(r"`tests/[^`]*::[^`]*`")
_STAYS = re.compile(r'"said"|"told_|\{seed\} telling"')
"""A key of `explain --json`, names of golden files, and the seed of a random generator of the simulation: they stay."""
_UNCHECKED = ("CHANGELOG.md", "tests/test_language.py", "tests/test_public_api.py")
"""Left out here and not in the pathspec: git 2.39 drops files for exclusions that are shorter than the path."""


def tracked(*paths: str) -> list[str]:
    """The files of the project below some paths."""
    command = ["git", "ls-files", "--", *paths]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True)  # noqa: S603
    files = [path for path in done.stdout.split("\n") if path.endswith((".py", ".md", ".toml", ".yml", ".yaml"))]
    return [path for path in files if not path.startswith(_UNCHECKED)]


def problems(path: str, text: str) -> Iterator[str]:
    """The places in a text with a word or a form that does not belong there.

    Pages are checked without code blocks, which hold sample texts, and without the names of tests, which are code.
    """
    if path.endswith(".md"):
        text = _FENCE.sub(lambda block: "\n" * block[0].count("\n"), text)
        text = _TEST_ID.sub("", text)
    for number, line in enumerate(text.split("\n"), 1):
        for word in _WORD.findall(_STAYS.sub("", line)):
            yield f"{path}:{number}: got {word!r}, expected {WORDS[word.lower()]}"
        if path.endswith(".py") and _CLAUSE.search(line):
            yield f"{path}:{number}: a docstring starts with a clause"


@pytest.mark.parametrize("path", PATHS)
def test_no_word_of_the_list_occurs(path: str) -> None:
    found = [one for file in tracked(path) for one in problems(file, (ROOT / file).read_text(encoding="utf-8"))]
    assert found == []


def test_words_and_forms_are_found() -> None:
    assert len([*problems("x.py", '"""What is told.\n# Nobody says `told_again`, untold\n"""')]) == 5
    assert not [*problems("x.md", "A teller, fortold: the worker reports.")]
    assert not [*problems("x.md", "See `tests/test_x.py::test_nobody_tells`.\n```\nHe said so.\n```\n")]
    assert [*problems("x.md", "```\nHe said so.\n```\nThe worker tells it.\n")] == [
        "x.md:4: got 'tells', expected reports, shows"
    ]


if __name__ == "__main__":
    places = [place for file in tracked(*sys.argv[1:]) for place in problems(file, (ROOT / file).read_text("utf-8"))]
    sys.stdout.write("".join(f"{place}\n" for place in places))
    sys.stderr.write(f"{len(places)} places\n")
    sys.exit(bool(places))
