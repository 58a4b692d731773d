"""Suggestions for misspelled names."""

import difflib
from collections.abc import Iterable

_ALIKE = 0.7
"""Least similarity of a misspelled name to its suggestion: in three letters none may be another one, in four one."""
_LEAST_PART = 4
"""Least number of letters of a part of a name that stands for the whole name."""


def nearest(name: str, valid: Iterable[str]) -> str:
    """The valid name most similar to `name`; the first one if none is similar.

    Example:
        >>> nearest("casefolded", ["nfc", "casefold"]), nearest("", ["nfc", "casefold"])
        ('casefold', 'nfc')
    """
    names = list(valid)
    return difflib.get_close_matches(name.lower(), names, n=1, cutoff=0.0)[0] if name else names[0]


def resembling(name: str, valid: Iterable[str]) -> str | None:
    """The valid name that `name` may be a misspelling or a part of; None if none is similar enough.

    Case and leading dashes are ignored.

    Example:
        >>> resembling("--treshold", ["--threshold", "--quiet"]), resembling("--output", ["--threshold", "--quiet"])
        ('--threshold', None)
        >>> resembling("jaro", ["levenshtein", "jaro-winkler"]), resembling("foo", ["for", "keep_forever"])
        ('jaro-winkler', None)
    """
    letters = name.lstrip("-").lower()
    by_letters = {one.lstrip("-").lower(): one for one in valid}
    matches = difflib.get_close_matches(letters, by_letters, n=1, cutoff=_ALIKE)
    if not matches and len(letters) >= _LEAST_PART:
        matches = [one for one in by_letters if letters in one]
    return by_letters[matches[0]] if matches else None


def suggestion(name: object, valid: Iterable[str]) -> str:
    """The end of a message about an unknown name: the valid name that may have been meant, or nothing.

    Example:
        >>> suggestion("casefolded", ["nfc", "casefold"]), suggestion("nosuch", ["people", "products"])
        ("; did you mean 'casefold'?", '')
    """
    similar = resembling(name, valid) if isinstance(name, str) else None  # a setting may have any value
    return f"; did you mean {similar!r}?" if similar else ""
