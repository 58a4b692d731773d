"""Computes the length of signatures for an accuracy, by Chernoff's bound and by the binomial distribution.

The estimate of a similarity s from k independent slots is off by more than eps s, to one side, with the probability

    above: P(Bin(k, s) > (1 + eps) s k)        below: P(Bin(k, s) < (1 - eps) s k)

and each must be at most delta for every s from s0 on.  Between two steps of its condition the first grows with s and
the second falls, so the worst case over all s lies at one of at most k steps, or at s0: the answer is exact.

Reference: Leskovec, Rajaraman and Ullman, Mining of Massive Datasets, section 3.3; Mitzenmacher and Upfal, Probability
and Computing, section 4.2, for Chernoff's bound.
"""

from dataclasses import dataclass

import numpy as np

from stream_lsh.arrays import F64, I64
from stream_lsh.errors import ConfigError
from stream_lsh.sketch.b_bit import WIDTHS, packed_bytes
from stream_lsh.sketch.beta import incomplete_beta
from stream_lsh.sketch.estimate import chernoff_slots
from stream_lsh.sketch.scheme import MOST_SLOTS

_WHOLE = 32
"""Bits of a full slot."""
_ROUNDED = 1 + 1e-12
"""Compensates rounding: a product that should be a whole number may be slightly less."""


@dataclass(frozen=True, slots=True)
class SlotsAdvice:
    """The number of slots for an accuracy, and their memory; printed, it is a table.

    Attributes:
        least_similarity: s0, the least similarity of interest.
        relative_error: eps, of the estimate, to one side.
        failure: delta, the probability of a greater error to that side.
        by_chernoff: slots by Chernoff's bound.
        slots: slots that suffice.
        documents: the number of documents for the memory.

    Example:
        >>> print(advise_slots(0.5, relative_error=0.1, failure=0.05))
        similarity 0.5 or more, relative error above 10 % in at most 5 % of cases on each side:
          Chernoff's bound  1,199 slots
          binomial            290 slots
        memory of 290 slots for 1,000,000 documents:
          32 bits a slot  1,160 bytes a document   1.16 GB
          16 bits           580                    0.58 GB
           8 bits           290                    0.29 GB
           4 bits           145                    0.14 GB
           2 bits            73                    0.07 GB
           1 bit             37                    0.04 GB
    """

    least_similarity: float
    relative_error: float
    failure: float
    by_chernoff: int
    slots: int
    documents: int

    def __str__(self) -> str:
        lines = [
            f"similarity {self.least_similarity:g} or more, relative error above {100 * self.relative_error:g} % in at "
            f"most {100 * self.failure:g} % of cases on each side:",
            f"  Chernoff's bound {self.by_chernoff:6,} slots",
            f"  binomial         {self.slots:6,} slots",
            f"memory of {self.slots:,} slots for {self.documents:,} documents:",
        ]
        for bits in (_WHOLE, *reversed(WIDTHS)):
            each, whole = packed_bytes(self.slots, bits), signature_memory(self.documents, self.slots, bits) / 1e9
            unit = "bit " if bits == 1 else "bits"
            names = (" a slot", " bytes a document") if bits == _WHOLE else ("", "")
            lines.append(f"  {bits:2} {unit}{names[0]:7} {each:6,}{names[1]:17} {whole:6.2f} GB")
        return "\n".join(lines)


def advise_slots(
    least_similarity: float, relative_error: float = 0.1, failure: float = 0.05, documents: int = 1_000_000
) -> SlotsAdvice:
    """The length of signatures for an accuracy, by Chernoff's bound and exactly.

    Args:
        least_similarity: the least similarity of interest, above 0, at most 1.
        relative_error: of the estimate, to one side, above 0 and below 1.
        failure: the allowed probability of a greater error to that side, above 0 and below 1.
        documents: the number of documents for the memory.

    Cost:
        some 10 ms for a result of 300 slots, seconds for one of 10,000.

    Raises:
        ConfigError: an argument out of its range, or an accuracy that takes more slots than a signature can have.
    """
    bound = chernoff_slots(least_similarity, relative_error, failure)
    slots = _binomial_slots(least_similarity, relative_error, failure, bound)
    return SlotsAdvice(least_similarity, relative_error, failure, bound, slots, documents)


def signature_memory(documents: int, slots: int, bits: int = _WHOLE) -> int:
    """The bytes of the signatures of `documents` documents, without an index.

    Example:
        >>> signature_memory(1, 250), signature_memory(1_000_000, 250), signature_memory(1_000_000, 250, bits=2)
        (1000, 1000000000, 63000000)
    """
    return documents * packed_bytes(slots, bits)


def worst_failure(slots: int, least_similarity: float, relative_error: float) -> float:
    """The greatest probability of a greater error, over both sides and all similarities from the least on.

    Cost:
        some milliseconds for a thousand slots.

    Example:
        >>> round(worst_failure(128, 0.5, 0.1), 3)
        0.147
    """
    steps = np.arange(slots + 1)
    # j agreeing slots are more than (1 + eps) s k if s is below j / ((1 + eps) k).
    above = steps[1:] / ((1 + relative_error) * slots)
    high = above > least_similarity * _ROUNDED
    worst = float(_at_least(steps[1:][high], slots, above[high]).max(initial=0.0))
    # j agreeing slots are fewer than (1 - eps) s k if s is above j / ((1 - eps) k).
    below = steps / ((1 - relative_error) * slots)
    first = np.maximum(below, least_similarity)
    next_below = (steps + 1) / ((1 - relative_error) * slots)
    low = (next_below > least_similarity) & (first < 1)
    failing = 1 - _at_least(steps[low] + 1, slots, first[low])
    return max(worst, float(failing.max(initial=0.0)))


def _binomial_slots(least_similarity: float, relative_error: float, failure: float, bound: int) -> int:
    """The least number of slots that meets the accuracy; a few greater ones may miss it slightly."""
    # The bound is for errors below; above a low similarity it may take up to half as many slots more.
    slots = np.arange(1, min(bound + bound // 2 + 1, MOST_SLOTS) + 1)
    # Most numbers fail at the step next to the least similarity, and skip the test of all steps.
    near = _failing_near(slots, least_similarity, relative_error)
    tried = (int(count) for count in slots[near <= failure])
    for count in tried:
        if worst_failure(count, least_similarity, relative_error) <= failure:
            return count
    raise ConfigError(
        f"slots: got an error of {relative_error} from similarity {least_similarity} on, which takes more than "
        f"{MOST_SLOTS:,} slots; allow a greater error, a more frequent failure, or ask for higher similarities"
    )


def _failing_near(slots: I64, least_similarity: float, relative_error: float) -> F64:
    """The greatest probability of an error just above the least similarity, for many numbers of slots: float64[n]."""
    high = np.floor((1 + relative_error) * least_similarity * slots * _ROUNDED) + 1
    above = _at_least(np.minimum(high, slots), slots, np.minimum(high / ((1 + relative_error) * slots), 1))
    low = np.ceil((1 - relative_error) * least_similarity * slots) - 1
    below = 1 - _at_least(low + 1, slots, np.full(slots.size, least_similarity))
    return np.asarray(np.maximum(np.where(high <= slots, above, 0), below), np.float64)


def _at_least(agreeing: F64 | I64, slots: int | I64, similarity: F64) -> F64:
    """P(Bin(slots, similarity) >= agreeing), for arrays."""
    return incomplete_beta(np.asarray(agreeing, np.float64), np.asarray(slots - agreeing + 1.0, np.float64), similarity)
