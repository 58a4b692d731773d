"""The comparators, by name."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from stream_lsh.errors import ConfigError
from stream_lsh.records.compare.codes import Codes
from stream_lsh.records.compare.comparator import Comparator
from stream_lsh.records.compare.dates import Dates
from stream_lsh.records.compare.edits import edit_distance, jaro_winkler
from stream_lsh.records.compare.exact import Exact
from stream_lsh.records.compare.geography import Geography
from stream_lsh.records.compare.jaccard import SetJaccard
from stream_lsh.records.compare.numbers import Numbers
from stream_lsh.records.compare.person_name import PersonName
from stream_lsh.records.compare.phones import Phones
from stream_lsh.records.compare.phonetic import Phonetic
from stream_lsh.records.compare.quantities import Measures, Prices
from stream_lsh.records.compare.tfidf import TfIdf
from stream_lsh.records.compare.tokens import TokenSet, TokenSort
from stream_lsh.records.frequencies import TokenFrequencies
from stream_lsh.spelling import suggestion

_WITH_LEVELS: Mapping[str, Callable[[Sequence[float]], Comparator]] = {
    "jaro-winkler": jaro_winkler,
    "levenshtein": partial(edit_distance, "levenshtein"),
    "damerau": partial(edit_distance, "damerau"),
    "token-sort": TokenSort,
    "token-set": TokenSet,
    "number": Numbers,
    "price": Prices,
    "measure": Measures,
    "distance": Geography,
    "qgram-jaccard": lambda levels: SetJaccard(3, levels),
    "bigram-jaccard": lambda levels: SetJaccard(2, levels),
    "token-jaccard": lambda levels: SetJaccard(0, levels),
}
_DEFAULT_LEVELS: Mapping[str, Sequence[float]] = {
    "jaro-winkler": (0.92, 0.8),
    "levenshtein": (1, 2),
    "damerau": (1, 2),
    "token-sort": (0.9, 0.7),
    "token-set": (0.9, 0.7),
    "number": (0.01, 0.1),
    "price": (0.01, 0.1, 0.3),
    "measure": (0.01, 0.05, 0.2),
    "distance": (1, 10, 100),
    "qgram-jaccard": (0.8, 0.5),
    "bigram-jaccard": (0.8, 0.5),
    "token-jaccard": (0.8, 0.5),
    "tfidf": (0.8, 0.5),
    "qgram-cosine": tuple(step / 20 for step in range(19, 0, -1)),
}
_WITHOUT: Mapping[str, Callable[[], Comparator]] = {
    "exact": Exact,
    "date": Dates,
    "codes": Codes,
    "phone": Phones,
    "person-name": PersonName,
    "phonetic": Phonetic,
}

WEIGHTED: Mapping[str, int] = {"tfidf": 0, "qgram-cosine": 3}
"""Comparators that read the frequencies of tokens, with the letters of a token; 0: words."""

COMPARATORS = (*_WITHOUT, *_WITH_LEVELS, *WEIGHTED)
"""All names."""


def comparator(name: str, levels: Sequence[float] = (), frequencies: TokenFrequencies | None = None) -> Comparator:
    """The comparator with a name.

    Args:
        name: one of COMPARATORS.
        levels: its thresholds; empty: its defaults.
        frequencies: of tokens; only those of WEIGHTED read them.

    Raises:
        ConfigError: an unknown name, or invalid levels for the comparator.

    Example:
        >>> comparator("jaro-winkler").spec, comparator("date").spec, comparator("damerau", (1,)).spec
        ('jaro-winkler 0.92 0.8', 'date', 'damerau 1')
        >>> comparator("jaro")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        stream_lsh.errors.ConfigError: comparator: got 'jaro', expected one of exact, ...; did you mean 'jaro-winkler'?
    """
    if name in _WITHOUT:
        if levels:
            raise ConfigError(f"{name}: got levels, expected none: its levels are fixed")
        return _WITHOUT[name]()
    if name in WEIGHTED:
        known = TokenFrequencies() if frequencies is None else frequencies
        return TfIdf(known, levels or _DEFAULT_LEVELS[name], WEIGHTED[name])
    if name not in _WITH_LEVELS:
        expected = ", ".join(COMPARATORS)
        raise ConfigError(f"comparator: got {name!r}, expected one of {expected}{suggestion(name, COMPARATORS)}")
    return _WITH_LEVELS[name](levels or _DEFAULT_LEVELS[name])
