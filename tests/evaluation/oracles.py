"""Slow, obvious and trusted: what the kernels must agree with, written from the definitions with Python's own types."""

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from itertools import islice
from unicodedata import category

MASK64 = (1 << 64) - 1
MASK32 = (1 << 32) - 1


def char_windows(text: str, k: int) -> list[str]:
    """Every run of k characters; the whole text if it is shorter; nothing if it is empty."""
    return [text[i : i + k] for i in range(max(1, len(text) - k + 1))] if text else []


def tokens(text: str) -> list[str]:
    r"""The runs of `\w` of the lower-cased text, with marks and joiners; the dot of U+0130 ends one."""
    found, inside, lower = list[str](), False, iter(text.lower())
    for original in text:
        for character in islice(lower, len(original.lower())):
            if inside and original != "\u0130" and (category(character)[0] == "M" or character in "\u200c\u200d"):
                found[-1] += character
            elif not re.match(r"\w", character):
                inside = False
            elif inside:
                found[-1] += character
            else:
                found.append(character)
                inside = True
    return found


def word_windows(text: str, k: int) -> list[tuple[str, ...]]:
    """Every run of k tokens; all of them if there are fewer; nothing if there are none."""
    words = tokens(text)
    return [tuple(words[i : i + k]) for i in range(max(1, len(words) - k + 1))] if words else []


def jaccard(left: Iterable[Hashable], right: Iterable[Hashable]) -> float:
    """The share of the union that is shared; 0 if one of the sets is empty."""
    a, b = set(left), set(right)
    return len(a & b) / len(a | b) if a and b else 0.0


def containment(left: Iterable[Hashable], right: Iterable[Hashable], size_ratio: float) -> float:
    """The share of the smaller set that is shared; 0 if the larger one has more than `size_ratio` times as many."""
    small, large = sorted((set(left), set(right)), key=len)
    return len(small & large) / len(small) if small and len(large) / len(small) <= size_ratio else 0.0


def bag_jaccard(left: Iterable[Hashable], right: Iterable[Hashable]) -> float:
    """The sum of the lesser counts over the sum of the greater ones."""
    a, b = Counter(left), Counter(right)
    return (a & b).total() / (a | b).total() if a and b else 0.0


def fmix64(h: int) -> int:
    """The finaliser of MurmurHash3."""
    h ^= h >> 33
    h = h * 0xFF51AFD7ED558CCD & MASK64
    h ^= h >> 33
    h = h * 0xC4CEB9FE1A85EC53 & MASK64
    return h ^ h >> 33


def odd_constants(count: int, seed: int) -> list[int]:
    """The multipliers of a seed."""
    return [fmix64((i * 0x9E3779B97F4A7C15 + seed) & MASK64) | 1 for i in range(1, count + 1)]


def _fold(h: int) -> int:
    return (h ^ h >> 32) & MASK32


def fast_similarity(hashes: Iterable[int], slots: int, seed: int, rounds: int) -> list[int]:
    """The formulas of `stream_lsh.sketch.fast_similarity`, one shingle after the other."""
    hashes = set(hashes)
    if not hashes:
        return [MASK32] * slots
    bits = (rounds + 1).bit_length()
    factors = odd_constants(rounds, 2 * seed + 1)
    direct = [a >> 32 | 1 for a in odd_constants(slots, 7919 * seed + 11)]
    signature = [MASK32] * slots
    for i in range(rounds):
        if MASK32 not in signature:
            break
        for h in hashes:
            g = h
            if i:
                g = h * factors[i] & MASK64
                g ^= g >> 32
            slot = (g >> 32) * slots >> 32
            signature[slot] = min(signature[slot], i << (32 - bits) | (g & MASK32) >> bits)
    for j in range(slots):
        if signature[j] == MASK32:
            signature[j] = rounds << (32 - bits) | min(((direct[j] * _fold(h)) & MASK32) >> bits for h in hashes)
    return signature


def classic_minhash(hashes: Iterable[int], slots: int, seed: int) -> list[int]:
    """The formulas of `stream_lsh.sketch.classic`."""
    folded = {_fold(h) for h in hashes}
    if not folded:
        return [MASK32] * slots
    factors = [a >> 32 | 1 for a in odd_constants(slots, 7919 * seed + 11)]
    terms = [b >> 32 for b in odd_constants(slots, 104_729 * seed + 5)]
    minima = [min((a * x + b) & MASK32 for x in folded) for a, b in zip(factors, terms, strict=True)]
    return [min(least, MASK32 - 1) for least in minima]


def permuted_minhash(hashes: Iterable[int], slots: int, seed: int) -> list[int]:
    """The formulas of `stream_lsh.sketch.permuted`."""
    members = set(hashes)
    if not members:
        return [MASK32] * slots
    functions = zip(odd_constants(slots, 7919 * seed + 11), odd_constants(slots, 104_729 * seed + 5), strict=True)
    return [min(min(fmix64((a * x + b) & MASK64) for x in members) >> 32, MASK32 - 1) for a, b in functions]


def minhash_by_permutation(members: Iterable[str], permutation: Sequence[str]) -> str:
    """The row of the characteristic matrix that comes first in the permutation, of those that the set has."""
    rows = set(members)
    return next(row for row in permutation if row in rows)


def minhash_by_row_hashing(members: Iterable[int], multiplier: int, term: int, prime: int) -> int:
    """The least hash (a x + b) mod p of the rows that the set has: a permutation simulated."""
    return min((multiplier * row + term) % prime for row in members)
