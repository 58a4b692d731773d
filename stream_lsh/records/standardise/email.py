"""E-mail addresses: the address out of whatever stands around it."""

import re

from stream_lsh.records.standardise.characters import fold

_ADDRESS = re.compile(r"[^\s<>,;:\"()]+@[^\s<>,;:\"()]+")


def email(text: str) -> str:
    """The first address of a text, in lower case; the text, cleaned, where it has none.

    Example:
        >>> email('"Jay Jones" <JJones@fmail.com>'), email("nobody")
        ('jjones@fmail.com', 'nobody')
    """
    folded = fold(text, 320)
    found = _ADDRESS.search(folded)
    return found[0].strip(".") if found else folded
