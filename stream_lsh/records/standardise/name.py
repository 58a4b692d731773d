"""Names of people, full or in parts: without punctuation and forms of address.

Apostrophes are dropped (O'Brien is obrien), all other punctuation separates words.  The words before a comma are the
surname, if there are only a few words, unless a generation follows it (Smith, Jr.).
"""

import re

from stream_lsh.records.standardise.characters import LONGEST, fold, fold_words

GENERATIONS = frozenset({"jr", "junior", "sr", "snr", "senior", "ii", "iii", "iv", "2nd", "3rd"})
"""Words after a name that distinguish a son from his father; a single `i` is an initial."""
_TITLES = frozenset({"mr", "mrs", "ms", "miss", "mx", "dr", "prof", "professor", "sir", "dame", "herr", "frau", "mme"})
_WORDS = re.compile(r"\S+( \S+)?")
_APOSTROPHES = dict.fromkeys(map(ord, "'’‘`´ʼ"))


def name(text: str) -> str:
    """The words of the name in lower case.

    Example:
        >>> name("Dr. Conan  O'Brien-Smith"), name("SIR"), name("Mr")
        ('conan obrien smith', 'sir', 'mr')
        >>> name("Hughes, Howie"), name("Howie Hughes, Jr.")
        ('howie hughes', 'howie hughes jr')
    """
    folded = fold(text[:LONGEST].translate(_APOSTROPHES))
    last, comma, first = folded.partition(", ")
    swapped = comma and _WORDS.fullmatch(last) and _WORDS.fullmatch(first)
    if swapped and first.strip(".") not in GENERATIONS:
        folded = f"{first} {last}"
    words = fold_words(folded)
    if " " not in words:
        return words
    parts = words.split()
    while len(parts) > 1 and parts[0] in _TITLES:
        del parts[0]
    return " ".join(parts)
