"""Names of people, full or in parts: without punctuation and forms of address.

Apostrophes are dropped (O'Brien is obrien), all other punctuation separates words.  The words before a comma are the
surname, if there are only a few words, unless a generation follows it (Smith, Jr.).
"""

import re

from stream_lsh.records.standardise.characters import LONGEST, fold, fold_words

GENERATIONS = {
    "jr": 1, "junior": 1, "sr": 2, "snr": 2, "senior": 2, "i": 3, "ii": 4, "iii": 5, "iv": 6, "2nd": 4, "3rd": 5,
}  # fmt: skip
"""Words after a name that distinguish a son from his father; words of one generation have the same number."""
SUFFIXES = GENERATIONS.keys() - {"i"}
"""The words that are a generation wherever they stand; a single `i` may be an initial."""
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
    if swapped and first.strip(".") not in SUFFIXES:
        folded = f"{first} {last}"
    words = fold_words(folded)
    if " " not in words:
        return words
    parts = words.split()
    while len(parts) > 1 and parts[0] in _TITLES:
        del parts[0]
    return " ".join(parts)
