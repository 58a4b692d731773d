r"""White-space shingles: every run of k tokens of `str.split`, with case and punctuation.

For machine-readable text (logs, identifiers, lists of items), in which a comma or a capital letter is a difference.
"""

import functools
import re

import numpy as np

from stream_lsh.arrays import Bools
from stream_lsh.text.hashing.tokens import PLANE_0, UNICODE, Tokeniser
from stream_lsh.text.shinglers.runs import TokenShingler


@functools.cache
def _no_space(all_planes: bool) -> Bools:
    """Whether each code point, of plane 0 or of all, is no white space."""
    table = np.ones(UNICODE if all_planes else PLANE_0, np.bool_)
    for space in re.finditer(r"\s", "".join(map(chr, range(PLANE_0)))):
        table[space.start()] = False
    return table


SPACED = Tokeniser(
    _no_space,
    # NUL is a character of a token, so each code point is raised by one.
    bytes(0 if code > 127 or chr(code).isspace() else code + 1 for code in range(256)),
    lower=None,
    shift=1,
)


class SpaceShingler(TokenShingler):
    r"""Every run of k white-space tokens of a text, hashed; fewer are padded to one shingle, none give none.

    Args:
        k: tokens in a shingle, 1 to 64.
        seed: chooses the multipliers and the salts of the hashes.
        full: fewer than k tokens have no shingle.

    Guarantees:
        equal runs of tokens have equal hashes, regardless of the white space between the tokens; different ones collide
        with a probability of some 2^-64 a pair.
    Cost:
        some 5 ns a character.

    Example:
        >>> shingles = SpaceShingler(2)(["a,  b C", "a,\nb c", " "])
        >>> shingles.counts.tolist(), (shingles.document(0) == shingles.document(1)).tolist()
        ([2, 2, 0], [True, False])
    """

    kind = "space"
    tokeniser = SPACED
