"""Which of the valid names somebody may have meant."""

import difflib
from collections.abc import Iterable


def nearest(name: str, valid: Iterable[str]) -> str:
    """The valid name that looks most like `name`; the first one where nothing does.

    Example:
        >>> nearest("casefolded", ["nfc", "casefold"]), nearest("", ["nfc", "casefold"])
        ('casefold', 'nfc')
    """
    names = list(valid)
    return difflib.get_close_matches(name.lower(), names, n=1, cutoff=0.0)[0] if name else names[0]
