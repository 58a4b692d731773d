"""The scripts of texts, and shingles that suit them.

Source: Unicode Standard, chapter 4.8: the name of a letter begins with the name of its script, in capitals.
"""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from stream_lsh.errors import ConfigError
from stream_lsh.text.catalog import BAG, DEFAULT, shingler

UNSPACED = frozenset({"Bopomofo", "Han", "Hiragana", "Katakana", "Khmer", "Lao", "Myanmar", "Thai"})
"""Scripts that put no spaces between words."""

_CASED = frozenset({"Armenian", "Cyrillic", "Greek", "Latin"})
_CALLED = {"Cjk": "Han"}
_WIDTHS = ("FULLWIDTH ", "HALFWIDTH ")
_KNOWN = UNSPACED | _CASED | {
    "Arabic", "Bengali", "Cherokee", "Devanagari", "Ethiopic", "Georgian", "Gujarati", "Gurmukhi", "Hangul", "Hebrew",
    "Kannada", "Malayalam", "Mongolian", "Oriya", "Sinhala", "Syriac", "Tamil", "Telugu", "Thaana", "Tibetan",
}  # fmt: skip
_OTHER = "other"
_LEAST = 0.01
"""The share from which a script is reported."""
_MANY = 0.05
"""The share of letters from which shingles have to suit a script."""
_CHARACTERS = 500
"""Characters of a text that are counted."""
_BY_WORDS = ("word", "stem", "stopword", "capital", "space")
_OF_CASED = ("stopword", "capital")


class ScriptCounts:
    """Counts the letters of texts by script.

    Cost:
        some 20 us for a text outside ASCII; at most 500 characters of a text count.

    Example:
        >>> counts = ScriptCounts()
        >>> counts.take(["version 2", "東京タワ"])
        >>> counts.shares()
        {'Latin': 0.636, 'Han': 0.182, 'Katakana': 0.182}
    """

    def __init__(self) -> None:
        self._counts = Counter[str]()

    def take(self, texts: Iterable[str]) -> None:
        """Count the letters of these texts."""
        for text in texts:
            self._counts.update(text[:_CHARACTERS])

    def shares(self) -> dict[str, float]:
        """The share of each script among the letters, from 1 % on, the most frequent first."""
        letters = Counter[str]()
        for character, count in self._counts.items():
            if character.isalpha():
                letters[_script(character)] += count
        total = letters.total()
        return {name: round(count / total, 3) for name, count in letters.most_common() if count >= _LEAST * total}


@cache
def _script(character: str) -> str:
    """The script of a letter."""
    name = unicodedata.name(character, "")
    for width in _WIDTHS:
        name = name.removeprefix(width)
    first = name.partition(" ")[0].capitalize()
    script = _CALLED.get(first, first)
    return script if script in _KNOWN else _OTHER


def shown(shares: Mapping[str, float]) -> str:
    """Shares as text.

    Example:
        >>> shown({"Latin": 0.75, "Han": 0.25})
        'Latin 75 %, Han 25 %'
    """
    return ", ".join(f"{name} {share:.0%}".replace("%", " %") for name, share in shares.items())


def script_lines(name: str, shares: Mapping[str, float]) -> list[str]:
    """The report of a command: scripts and shingles, and better ones if there are any; none for Latin alone.

    Example:
        >>> script_lines("word:3", {"Han": 1.0})
        ['scripts of a sample: Han 100 %; shingles: word:3', 'word:3 takes a clause of Han as one word; use mixed:3']
    """
    if not shares.keys() - {"Latin"}:
        return []
    lines = [f"scripts of a sample: {shown(shares)}; shingles: {name}"]
    better = suitable_shingles(name, shares)
    return lines if better is None else [*lines, f"{better[1]}; use {better[0]}"]


def suitable_shingles(name: str, shares: Mapping[str, float]) -> tuple[str, str] | None:
    """Shingles that suit the scripts better, with the reason; None if the given ones suit them.

    Example:
        >>> suitable_shingles("word:3", {"Thai": 0.9, "Latin": 0.1})
        ('mixed:3', 'word:3 takes a clause of Thai as one word')
        >>> suitable_shingles("word:3", {"Latin": 1.0}), suitable_shingles("mixed:3", {"Thai": 1.0})
        (None, None)
    """
    kind = name.removeprefix(f"{BAG}:").partition(":")[0]
    if kind not in _BY_WORDS:
        return None
    unspaced = _among(shares, UNSPACED)
    uncased = _among(shares, shares.keys() - _CASED)
    if unspaced:
        reason = f"{name} takes a clause of {unspaced} as one word"
    elif kind in _OF_CASED and sum(share for script, share in shares.items() if script not in _CASED) >= 0.5:
        reason = f"{name} finds few shingles in {uncased}"
    else:
        return None
    try:
        return f"mixed:{shingler(name).k}", reason
    except ConfigError:  # of a library that is not installed
        return DEFAULT, reason


def _among(shares: Mapping[str, float], scripts: Iterable[str]) -> str:
    """The frequent scripts among these, as text."""
    chosen: Sequence[str] = [name for name, share in shares.items() if name in set(scripts) and share >= _MANY]
    return ", ".join(chosen)
