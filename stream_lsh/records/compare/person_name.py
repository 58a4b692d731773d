"""Compares given names or surnames of people: short forms, initials, one of several names, names that sound alike.

In addition to Jaro-Winkler similarity (see `edits`) it handles differences that are not typing errors: Bob is Robert,
J. may be Jane, a second given name is omitted.  A junior is not his father: different generations never match.

Only the first 16 words of a name are compared, because the cost is the product of their numbers.
"""

from functools import lru_cache

from rapidfuzz.distance import JaroWinkler

from stream_lsh.records.compare.comparator import OneByOne
from stream_lsh.records.compare.nicknames import are_forms
from stream_lsh.records.compare.phonetic import phonetic_code
from stream_lsh.records.standardise.name import GENERATIONS

_MOST_WORDS = 16
_FORM, _CLOSE, _PART, _INITIAL, _NEAR, _FAR, _ELSE = range(1, 8)


class PersonName(OneByOne):
    """Levels of two names of a person.

    Example:
        >>> names = PersonName()
        >>> pairs = ("bob", "robert"), ("martha", "marhta"), ("maria luis", "maria"), ("x jr", "x sr")
        >>> [names.levels[names.level(*pair)] for pair in pairs]
        ['a form of it', '≥ 0.92', 'one of several', 'else']
    """

    spec = "person-name"
    levels = (
        "equal",
        "a form of it",
        "≥ 0.92",
        "one of several",
        "its initial",
        "≥ 0.88 or alike in sound",
        "≥ 0.7",
        "else",
    )

    def level(self, left: str, right: str) -> int:
        """The level of two values."""
        similarity = JaroWinkler.similarity(left, right, score_cutoff=0.7)
        if " " in left or " " in right:
            return _of_several(left, right, similarity)
        return _of_words(left, right, similarity)


def _of_words(left: str, right: str, similarity: float) -> int:
    if are_forms(left, right):
        return _FORM
    if len(left) == 1 or len(right) == 1:
        return _INITIAL if left[0] == right[0] else _ELSE
    if similarity >= 0.92:
        return _CLOSE
    if similarity >= 0.88 or (similarity >= 0.7 and phonetic_code(left) == phonetic_code(right)):
        return _NEAR
    return _FAR if similarity >= 0.7 else _ELSE


@lru_cache(maxsize=1 << 15)
def _parted(name: str) -> tuple[tuple[str, ...], int]:
    """The words of a name, and its generation, 0 for none."""
    words = name.split()
    numbers = [GENERATIONS.get(word, 0) for word in words[1:]]
    kept = (*words[:1], *(word for word, number in zip(words[1:], numbers, strict=True) if not number))
    return kept[:_MOST_WORDS], max(numbers, default=0)


def _length_first(words: tuple[str, ...]) -> tuple[int, tuple[str, ...]]:
    return len(words), words  # a total order, so that the comparison of names of equal length is symmetric


def _of_several(left: str, right: str, similarity: float) -> int:
    (ones, generation), (others, other_generation) = _parted(left), _parted(right)
    if generation and other_generation and generation != other_generation:
        return _ELSE
    if set(ones) == set(others):
        return _FORM
    shorter, longer = sorted((ones, others), key=_length_first)
    if set(shorter) <= set(longer):
        return _PART
    levels = [
        min(_FORM if word == other else _of_words(word, other, JaroWinkler.similarity(word, other)) for other in longer)
        for word in shorter
    ]
    worst = max(levels)
    if worst < _FAR:
        return max(_PART, worst) if len(shorter) < len(longer) else worst
    if similarity >= 0.92:  # the same letters, divided into other words
        return _NEAR
    return _FAR if min(levels) <= _CLOSE else _ELSE
