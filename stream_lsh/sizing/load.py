"""The numbers of a stream, as its operator knows them."""

from dataclasses import dataclass

from stream_lsh.errors import ConfigError

DAY_SECONDS = 86_400
BATCH = 700
"""The most documents that sign processes together; `worker.topology` has the same number."""
BUSY_BATCH = 128
"""The documents in a batch of a worker that has all it can do: `python -m benchmarks.worker.costs --part worker`."""
WAIT_SECONDS = 0.1
"""The documents that arrive at a partition within this time are one batch, if the worker is not behind."""
_MOST_RATE, _MOST_PAIRS = 10**9, 10**6
"""The greatest rate at a peak, and the most pairs per document: no stream has more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """A stream.

    Attributes:
        rate: documents a second, on average.
        peak: the greatest rate, as a multiple of `rate`.
        size: bytes of the compared value of a document.
        matches: pairs per document.
        near_duplicates: the share of documents that match an earlier one.
        candidates: further compared pairs per document, which do not match.
        documents: documents kept; None: those within the retention.
        batch: documents that sign processes together at the average rate; 0: estimated from the rate.

    Raises:
        ConfigError: numbers out of range, all at once.
    """

    rate: float
    peak: float = 3.0
    size: int = 3_000
    matches: float = 0.1
    near_duplicates: float = 0.1
    candidates: float = 0.0
    documents: int | None = None
    batch: int = 0

    def __post_init__(self) -> None:
        problems = []
        if not self.rate > 0:
            problems.append(f"rate: got {self.rate:g}, expected a number above 0")
        if not self.peak >= 1:
            problems.append(f"peak: got {self.peak:g}, expected 1 or more")
        if self.rate > 0 and self.peak >= 1 and not self.rate * self.peak <= _MOST_RATE:
            problems.append(f"rate: got {self.rate:g}, at the peak {self.rate * self.peak:g}, expected at most 1e9")
        if not 0 <= self.candidates <= _MOST_PAIRS:
            problems.append(f"candidates: got {self.candidates:g}, expected 0 to {_MOST_PAIRS:,}")
        if not 0 <= self.matches <= _MOST_PAIRS:
            problems.append(f"matches: got {self.matches:g}, expected 0 to {_MOST_PAIRS:,}")
        elif not 0 <= self.near_duplicates <= 1:
            problems.append(f"near-duplicates: got {self.near_duplicates:g}, expected 0 to 1")
        elif self.matches < self.near_duplicates:
            problems.append(
                f"near-duplicates: got {self.near_duplicates:g}, expected at most {self.matches:g}, the matches of a "
                "document: each near-duplicate has at least one"
            )
        elif self.matches and not self.near_duplicates:
            problems.append(f"near-duplicates: got 0, expected more with {self.matches:g} matches per document")
        if problems:
            raise ConfigError(problems)

    @property
    def partners(self) -> float:
        """The earlier documents that a near-duplicate matches."""
        return self.matches / self.near_duplicates if self.near_duplicates else 0.0

    def batch_at(self, rate: float, partitions: int) -> int:
        """The documents that sign processes together at a rate, with this number of partitions."""
        if self.batch:
            return self.batch
        return max(1, min(BATCH, round(rate / partitions * WAIT_SECONDS)))
