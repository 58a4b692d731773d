"""The rows of `peers`: contenders, what a call takes, and quality."""

from collections.abc import Mapping
from dataclasses import dataclass

INDEXED = 5_000
OURS, DEDUPE, SPLINK = "stream_lsh", "dedupe", "splink"
CONTENDERS = (OURS, *(f"{DEDUPE} {seed}" for seed in (1, 2, 3)))


@dataclass(frozen=True, slots=True)
class Latency:
    """One call of one contender, milliseconds; of a search also what it found of the truth."""

    corpus: str
    call: str
    contender: str
    calls: int
    median_ms: float
    quartiles_ms: tuple[float, float]
    p99_ms: float
    precision: float | None = None
    recall: float | None = None


@dataclass(frozen=True, slots=True)
class Ratio:
    """How many times as long as ours a contender takes: the median of the rounds, and their quartiles."""

    corpus: str
    call: str
    contender: str
    ratio: float
    quartiles: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Quality:
    """Pairs of one contender: precision, recall and F1 at thresholds and at the best one, seconds to find them.

    Attributes:
        compared: the share of the true pairs that were scored.
        at: by threshold; that of `people` is .95.
    """

    corpus: str
    contender: str
    records: int
    true_pairs: int
    compared: float
    at: Mapping[str, Mapping[str, float]]
    seconds: float
