"""Suggestions for misspelled names."""

import difflib
from collections.abc import Iterable

_ALIKE = 0.7
"""Least similarity of a misspelled name to its suggestion."""


def nearest(name: str, valid: Iterable[str]) -> str:
    """The valid name most similar to `name`; the first one if none is similar.

    Example:
        >>> nearest("casefolded", ["nfc", "casefold"]), nearest("", ["nfc", "casefold"])
        ('casefold', 'nfc')
    """
    names = list(valid)
    return difflib.get_close_matches(name.lower(), names, n=1, cutoff=0.0)[0] if name else names[0]


def resembling(name: str, valid: Iterable[str]) -> str | None:
    """The valid name that `name` may be a misspelling of, ignoring leading dashes; None if none is similar enough.

    Example:
        >>> resembling("--treshold", ["--threshold", "--quiet"]), resembling("--output", ["--threshold", "--quiet"])
        ('--threshold', None)
    """
    by_letters = {one.lstrip("-"): one for one in valid}
    matches = difflib.get_close_matches(name.lstrip("-").lower(), by_letters, n=1, cutoff=_ALIKE)
    return by_letters[matches[0]] if matches else None
