"""Chooses the length of shingles: the smallest for which unrelated documents share few shingles by accident.

If all shingles were equally likely, symbols^k would be possible, 27^5 = 14,348,907 of five letters, and mails of some
thousand characters would share next to none.  They are not: ` the ` is in all of them.  So the share is estimated from
a sample of the documents themselves:

    share = mean over documents A, over shingles w of A, of the probability that w is in another document

The probability is the share of the other documents with w.  Documents `times` as long count as that many documents
together: 1 - (1 - p)^times.

Everything that unrelated documents have in common counts as accidental, such as phrases of the language and signatures
of mails.  Near duplicates in the sample raise it for every k, so draw documents at random; equal ones count once.

Source: J. Leskovec, A. Rajaraman and J. Ullman, Mining of Massive Datasets, section 3.2.2, for the question and the
count of possible shingles; A. Z. Broder, On the resemblance and containment of documents, SEQUENCES 1997.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from stream_lsh.arrays import F64
from stream_lsh.errors import ConfigError
from stream_lsh.text.catalog import LARGEST_K, shingler
from stream_lsh.text.digest import bag_digest
from stream_lsh.text.shinglers.char import code_points
from stream_lsh.text.shingles import Shingler


class Advice(NamedTuple):
    """The advised k, with reasons.

    Attributes:
        k: the smallest with at most the allowed share of accidental shingles.
        spec: the shingles, such as `char:9`.
        shares: the expected share for each k from 1 to this one.
        reasons: sentences for the user.
    """

    k: int
    spec: str
    shares: dict[int, float]
    reasons: tuple[str, ...]


def advise(documents: Sequence[str], kind: str = "char", most: float = 0.1, times: float = 1.0) -> Advice:
    """The smallest k for which unrelated documents share at most the share `most` of their shingles by accident.

    Args:
        documents: a random sample of some hundred.
        kind: a kind of shingle with k as its last argument, such as `char`, `word`, `mixed` or `stem:en`.
        most: the allowed share, between 0 and 1.
        times: the length of the other documents of a comparison, as a multiple of those of the sample.

    Raises:
        ConfigError: a sample of fewer than two different documents -> add more; no k suffices -> the sample contains
            copies, or too few documents for such a small share.

    Example:
        >>> import itertools
        >>> letters = ["".join(word) for word in itertools.product("ab", repeat=3)]
        >>> advise(letters, most=0.2).k
        3
    """
    shares = dict[int, float]()
    for k in range(1, LARGEST_K + 1):
        shares[k] = float(accidental_shares(documents, shingler(f"{kind}:{k}"), times).mean())
        if shares[k] <= most:
            return Advice(k, f"{kind}:{k}", shares, _reasons(documents, kind, k, shares, most))
    raise ConfigError(
        f"sample: got documents that share {shares[LARGEST_K]:.2g} of their shingles even for k = {LARGEST_K}, "
        f"expected at most {most:g}; are there copies among them?"
    )


def accidental_shares(documents: Sequence[str], shingles: Shingler, times: float = 1.0) -> F64:
    """The mean share of each document's shingles that another document has by accident: float64[n].

    Documents without shingles, and all but the first of several equal ones, are omitted.

    Args:
        documents: a sample.
        shingles: the shingler.
        times: the length of the other document, as a multiple of the mean length of the sample.

    Returns:
        in the order of the documents; the mean is the expected share.
    Guarantees:
        for `times` = 1 the exact mean over all other documents of the sample; otherwise as if the other document
        consisted of that many independently chosen ones.

    Raises:
        ConfigError: fewer than two different documents with shingles.
    """
    made = shingles(documents)
    digests = bag_digest(made)
    rows = np.sort(np.unique(digests, return_index=True)[1])
    rows = rows[digests[rows] != 0]
    if rows.size < 2:
        raise ConfigError(
            f"sample: got {rows.size} different documents with shingles of {shingles.spec}, expected 2 or more"
        )
    sets = [np.unique(made.document(row)) for row in rows.tolist()]
    _, which, holders = np.unique(np.concatenate(sets), return_inverse=True, return_counts=True)
    chance = 1.0 - (1.0 - (holders - 1) / (rows.size - 1)) ** times
    sizes = np.array([members.size for members in sets])
    sums: F64 = np.add.reduceat(chance[which], np.cumsum(sizes) - sizes)
    shares: F64 = sums / sizes
    return shares


def possible_shingles(symbols: int, k: int) -> int:
    """The number of possible shingles of k symbols out of `symbols` different ones.

    Example:
        >>> possible_shingles(27, 5)
        14348907
    """
    return int(symbols**k)


def coincidence(documents: Sequence[str], k: int) -> float:
    """The probability that two runs of k characters are equal, from the transitions of characters in the documents.

    As if the text were a Markov chain of order 1: less than the truth, as words and phrases make more runs alike, and
    far more than `1 / possible_shingles`.

    Cost:
        one pass over the documents; k steps over the different pairs of neighbouring characters.

    Example:
        >>> coincidence(["ababababa"], 9)
        0.5
    """
    codes = [code_points(text).astype(np.int64) for text in documents if len(text) > 1]
    if not codes:
        return 0.0
    before, after = (np.concatenate([code[part] for code in codes]) for part in (slice(None, -1), slice(1, None)))
    pairs, counts = np.unique(before << 32 | after, return_counts=True)
    symbols, places = np.unique(np.concatenate((pairs >> 32, pairs & 0xFFFFFFFF)), return_inverse=True)
    first, second = places[: pairs.size], places[pairs.size :]
    starting: F64 = np.bincount(first, counts, symbols.size).astype(np.float64)
    squares: F64 = (counts / starting[first]) ** 2
    equal_from_here: F64 = np.ones(symbols.size)
    for _ in range(k - 1):
        equal_from_here = np.bincount(first, squares * equal_from_here[second], symbols.size).astype(np.float64)
    return float(((starting / starting.sum()) ** 2 * equal_from_here).sum())


def _reasons(documents: Sequence[str], kind: str, k: int, shares: dict[int, float], most: float) -> tuple[str, ...]:
    reasons = [f"of {kind}:{k}, unrelated documents share {shares[k]:.1%} by accident; wanted is {most:.1%} at most"]
    if k > 1:
        reasons.append(f"of {kind}:{k - 1}, they share {shares[k - 1]:.1%}")
    if kind == "char":
        symbols = len(set().union(*documents))
        reasons.append(
            f"{symbols} symbols would make {possible_shingles(symbols, k):,} shingles of {k}, but neighbouring symbols "
            f"depend on each other: two are equal with a probability of {coincidence(documents, k):.1e} at least"
        )
    return tuple(reasons)
