"""How everything here is timed: contenders alternate in one process, so that a busy machine slows all of them alike."""

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

_SHORTEST = 0.02  # seconds: calls are repeated within one round up to here


@dataclass(frozen=True, slots=True)
class Timing:
    """The times of the rounds of one contender.

    Attributes:
        seconds: the median of the rounds, for one call.
        spread: the middle half of the rounds, as a share of the median.
    """

    seconds: float
    spread: float


def interleaved(lanes: Mapping[str, Callable[[], object]], rounds: int = 7) -> dict[str, Timing]:
    """Times every lane in every round, after one call to warm up.

    Args:
        lanes: name to what is timed.
        rounds: how often; read the results as ratios, machines differ.
    """
    repeats = {name: _repeats(lane) for name, lane in lanes.items()}
    took: dict[str, list[float]] = {name: [] for name in lanes}
    for _ in range(rounds):
        for name, lane in lanes.items():
            start = time.perf_counter()
            for _ in range(repeats[name]):
                lane()
            took[name].append((time.perf_counter() - start) / repeats[name])
    return {name: _timing(times) for name, times in took.items()}


def _repeats(lane: Callable[[], object]) -> int:
    lane()
    start = time.perf_counter()
    lane()
    return max(1, int(_SHORTEST / (time.perf_counter() - start + 1e-9)))


def _timing(times: list[float]) -> Timing:
    median = statistics.median(times)
    if len(times) < 2:
        return Timing(median, 0.0)
    low, _, high = statistics.quantiles(times, n=4)
    return Timing(median, (high - low) / median)
