"""Textbook minhashing: the characteristic matrix, explicit permutations of its rows, and hashes that simulate them.

For small universes.  A row of the matrix is an element, a column a set.  The minhash of a set under a permutation is
the first row of the set; two sets have the same one with a probability equal to their Jaccard similarity, because each
row of the union comes first equally often.  Permutations of large universes cannot be stored, so hashes of the row
numbers simulate them, and the signature matrix is filled row by row.

Reference: Leskovec, Rajaraman and Ullman, Mining of Massive Datasets, sections 3.3.1 to 3.3.5.
"""

from collections.abc import Collection, Sequence
from typing import TypeVar

import numpy as np

from stream_lsh.arrays import I64, Bools
from stream_lsh.errors import ConfigError

Element = TypeVar("Element")

NO_ROW = np.iinfo(np.int64).max
"""The minhash of the empty set: it comes after every row."""

_BASES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)


def characteristic_matrix(sets: Sequence[Collection[Element]], universe: Sequence[Element]) -> Bools:
    """The membership of each element in each set: bool[rows, sets].

    Raises:
        ConfigError: a set has an element outside the universe, or the universe has an element twice.

    Example:
        >>> characteristic_matrix(["ad", "c", "bde", "acd"], "abcde").astype(int).tolist()
        [[1, 0, 0, 1], [0, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 1], [0, 0, 1, 0]]
    """
    rows = {element: row for row, element in enumerate(universe)}
    if len(rows) != len(universe):
        raise ConfigError(f"universe: got {len(universe)} elements, of which {len(rows)} differ, expected each once")
    matrix = np.zeros((len(rows), len(sets)), np.bool_)
    for column, members in enumerate(sets):
        for member in members:
            if member not in rows:
                raise ConfigError(f"set {column}: got {member!r}, expected elements of the universe only")
            matrix[rows[member], column] = True
    return matrix


def minhashes_by_permutation(matrix: Bools, permutations: I64) -> I64:
    """The first row of each set in each permutation: int64[permutations, sets], row numbers or NO_ROW.

    Args:
        matrix: bool[rows, sets].
        permutations: int64[permutations, rows], each the row numbers in another order.

    Raises:
        ConfigError: an argument is not a permutation of the rows.

    Example:
        >>> matrix = characteristic_matrix(["ad", "c", "bde", "acd"], "abcde")
        >>> order = np.array([["abcde".index(row) for row in "bedac"]])
        >>> ["abcde"[row] for row in minhashes_by_permutation(matrix, order)[0].tolist()]
        ['d', 'c', 'b', 'd']
    """
    rows = np.arange(matrix.shape[0])
    minhashes = np.full((len(permutations), matrix.shape[1]), NO_ROW, np.int64)
    for number, permutation in enumerate(permutations):
        if not np.array_equal(np.sort(permutation), rows):
            raise ConfigError(
                f"permutation {number}: got {permutation.tolist()}, expected each of {rows.size} rows once"
            )
        ordered = matrix[permutation]
        filled = ordered.any(axis=0)
        minhashes[number, filled] = permutation[ordered.argmax(axis=0)[filled]]
    return minhashes


def universal_hashes(rows: int, factors: Sequence[int], terms: Sequence[int], prime: int) -> I64:
    """The hashes ((a x + b) mod p) mod rows of every row number x: int64[rows, hashes].

    Args:
        rows: N, of the characteristic matrix.
        factors: a of each hash, 1 to p - 1.
        terms: b of each hash, 0 to p - 1.
        prime: p, not below N.  With p = N each hash is a permutation; a greater p lets rows collide, rarely if it is
            much greater.

    Raises:
        ConfigError: p is no prime or too small, or a or b are out of their range.

    Reference: Carter and Wegman, Universal classes of hash functions, 1979.

    Example:
        >>> universal_hashes(5, factors=[1, 3], terms=[1, 1], prime=5).T.tolist()
        [[1, 2, 3, 4, 0], [1, 4, 2, 0, 3]]
    """
    problems = [] if prime >= rows and _is_prime(prime) else [f"prime: got {prime}, expected a prime of {rows} or more"]
    problems += [f"factor: got {a}, expected 1 to {prime - 1}" for a in factors if not 1 <= a < prime]
    problems += [f"term: got {b}, expected 0 to {prime - 1}" for b in terms if not 0 <= b < prime]
    if len(factors) != len(terms):
        problems.append(f"hashes: got {len(factors)} factors and {len(terms)} terms, expected as many")
    if problems:
        raise ConfigError(problems)
    hashes = [[(a * x + b) % prime % rows for a, b in zip(factors, terms, strict=True)] for x in range(rows)]
    return np.array(hashes, np.int64).reshape(rows, len(factors))


def signature_matrix(matrix: Bools, hashes: I64) -> I64:
    """The least hash of the rows of each set, filled in row by row: int64[hashes, sets].

    Args:
        matrix: bool[rows, sets].
        hashes: int64[rows, hashes], such as `universal_hashes`.

    Returns:
        NO_ROW for empty sets.
    Cost:
        one pass over the rows, which need not be in memory together.

    Example:
        >>> matrix = characteristic_matrix(["ad", "c", "bde", "acd"], "abcde")
        >>> signature_matrix(matrix, universal_hashes(5, [1, 3], [1, 1], 5)).tolist()
        [[1, 3, 0, 1], [0, 2, 0, 0]]
    """
    signatures = np.full((hashes.shape[1], matrix.shape[1]), NO_ROW, np.int64)
    for members, row_hashes in zip(matrix, hashes, strict=True):
        signatures[:, members] = np.minimum(signatures[:, members], row_hashes[:, None])
    return signatures


def agreeing_share(signatures: I64, left: int, right: int) -> float:
    """The share of rows of a signature matrix in which two columns agree: it estimates their Jaccard similarity.

    Returns:
        0 if a set is empty.

    Example:
        >>> agreeing_share(np.array([[1, 3, 0, 1], [0, 2, 0, 0]]), 0, 2)  # exactly 1/4
        0.5
    """
    agree = (signatures[:, left] == signatures[:, right]) & (signatures[:, left] != NO_ROW)
    return float(agree.mean())


def _is_prime(number: int) -> bool:
    """Whether a number is a prime, by the test of Miller and Rabin: exact below 3 * 10^23."""
    if number < 2 or any(number % base == 0 for base in _BASES):
        return number in _BASES
    twos = (number - 1 & 1 - number).bit_length() - 1
    roots = (pow(base, number - 1 >> twos, number) for base in _BASES)
    return all(root == 1 or any(pow(root, 1 << i, number) == number - 1 for i in range(twos)) for root in roots)
