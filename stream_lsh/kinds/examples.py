"""Generated values for example messages: words, numbers, items.  Equal arguments give equal values on every machine.

`Kind.example` makes a message of them.  The messages of one group match each other, those of two groups do not.
"""

import numpy as np

from stream_lsh.arrays import U64
from stream_lsh.hashing import GOLDEN, fmix64

TIME_MS = 1_700_000_000_000
"""The event time of example messages."""
WORD_BYTES = 4.73
"""The mean length of a word, with the blank behind it."""

_VOCABULARY = 50_000
_SYLLABLES = tuple(f"{consonant}{vowel}" for consonant in "bdfgklmnprst" for vowel in "aeiou")


def example_id(group: int, member: int) -> str:
    """The id of an example message.

    Example:
        >>> example_id(7, 1)
        '00000007-001'
    """
    return f"{group:08}-{member:03}"


def draws(group: int, member: int, count: int) -> U64:
    """Evenly distributed numbers: uint64[count], others for each pair of a group and a member.

    Example:
        >>> draws(1, 0, 2).tolist() == draws(1, 0, 3)[:2].tolist(), draws(1, 0, 1) == draws(1, 1, 1)
        (True, array([False]))
    """
    start = fmix64(np.array([group << 20 | member], np.uint64) + GOLDEN)
    return fmix64(start + np.arange(1, count + 1, dtype=np.uint64) * GOLDEN)


def words(group: int, member: int, count: int) -> list[str]:
    """Words whose frequencies follow Zipf's law, nearly: the logarithms of their ranks are evenly distributed.

    Example:
        >>> len(words(1, 0, 5)), words(1, 0, 5) == words(1, 0, 6)[:5]
        (5, True)
    """
    shares = draws(group, member, count).astype(np.float64) / 2.0**64
    return [_word(int(rank)) for rank in np.exp(shares * np.log(_VOCABULARY)).tolist()]


def with_another_end(shared: list[str], group: int, member: int, least: float) -> list[str]:
    """The same values with other last ones: two members of a group have a Jaccard similarity above `least`.

    The similarity of two members is halfway between `least` and 1 on average.

    Args:
        shared: values that are the same for all members of the group.
        group: of the message.
        member: of the message; 0 and up.
        least: 0 to 1.
    """
    similarity = (1 + least) / 2
    varied = 0.5 + int(draws(group, member, 1)[0]) / 2.0**64
    changed = max(1, round(len(shared) * varied * (1 - similarity) / (1 + similarity)))
    return [*shared[:-changed], *words(group, member + 1, min(changed, len(shared)))]


def _word(rank: int) -> str:
    spelled = ""
    while rank or not spelled:
        rank, syllable = divmod(rank, len(_SYLLABLES))
        spelled += _SYLLABLES[syllable]
    return spelled
