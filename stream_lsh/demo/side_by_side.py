"""Two texts side by side, with the words marked that only one of them has."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import groupby, zip_longest
from typing import NamedTuple


class Word(NamedTuple):
    """A word of a text; `differs` if the other text lacks it there, `breaks` if a paragraph starts with it."""

    text: str
    differs: bool
    breaks: bool


def side_by_side(left: str, right: str, width: int, marks: Sequence[tuple[str, str]]) -> Iterator[str]:
    """The lines of both texts in two columns.

    Args:
        left: a text.
        right: another one.
        width: columns of the terminal.
        marks: what stands before and behind the words that differ, on the left and on the right; it takes no columns
            if it starts with an escape.

    Example:
        >>> for line in side_by_side("it was a cold day", "it was a warm day", 25, [("[", "]"), ("{", "}")]):
        ...     print(line)
        it was a    | it was a
        [cold] day  | {warm} day
    """
    column = (width - 3) // 2
    words = [_paragraph_words(text) for text in (left, right)]
    plain = [[word for word, _ in own] for own in words]
    differs = [[False] * len(own) for own in plain]
    folded = [[word.lower().strip(".,;:|") for word in own] for own in plain]
    for operation, from_left, to_left, from_right, to_right in SequenceMatcher(
        None, folded[0], folded[1], autojunk=False
    ).get_opcodes():
        if operation != "equal":
            differs[0][from_left:to_left] = [True] * (to_left - from_left)
            differs[1][from_right:to_right] = [True] * (to_right - from_right)
    columns = [
        list(_lines([Word(word, flag, breaks) for (word, breaks), flag in zip(own, flags, strict=True)], column, mark))
        for own, flags, mark in zip(words, differs, marks, strict=True)
    ]
    for one, other in zip_longest(*columns, fillvalue=("", 0)):
        yield f"{one[0]}{' ' * (column - one[1])} | {other[0]}".rstrip()


def _paragraph_words(text: str) -> list[tuple[str, bool]]:
    return [
        (word, number == 0 and paragraph > 0)
        for paragraph, part in enumerate(text.split("\n\n"))
        for number, word in enumerate(part.split())
    ]


def _lines(words: Sequence[Word], width: int, marks: tuple[str, str]) -> Iterator[tuple[str, int]]:
    """Lines with their widths: words as they fit, an empty line between paragraphs."""
    taken = 0 if marks[0].startswith("\033") else sum(map(len, marks))
    line, length = list[Word](), 0
    for word in words:
        begins = word.differs and not (line and line[-1].differs)
        size = len(word.text) + (taken if begins else 0)
        if line and (word.breaks or length + 1 + size > width):
            yield _marked(line, marks), length
            line, length, size = [], 0, len(word.text) + (taken if word.differs else 0)
        if word.breaks:
            yield "", 0
        length += size + (1 if line else 0)
        line.append(word)
    yield _marked(line, marks), length


def _marked(line: Sequence[Word], marks: tuple[str, str]) -> str:
    """The words of a line, with each run of differing words between its marks."""
    runs = []
    for differs, words in groupby(line, key=lambda word: word.differs):
        text = " ".join(word.text for word in words)
        runs.append(f"{marks[0]}{text}{marks[1]}" if differs else text)
    return " ".join(runs)
