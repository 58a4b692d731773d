"""The extent of the changelogs of a run at random moments."""

import random
from typing import NamedTuple

from tests.simulation.log.broker import Broker, Partition

_SHARE, _MOMENTS = 0.25, 3


class Span(NamedTuple):
    """The offsets of a changelog at one moment."""

    start: int
    end: int


class Watch:
    """Records the extent of each changelog at random moments, in a share of the runs.

    Attributes:
        moments: the spans of all changelogs at each of them.
    """

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(f"{seed} followers")
        self._often = 0.02 if self._rng.random() < _SHARE else 0.0
        self.moments: list[dict[Partition, Span]] = []

    def look(self, broker: Broker) -> None:
        """Called after each event."""
        if self._rng.random() < self._often:
            logs = broker.changelogs()
            self.moments.append({log: Span(broker.start(*log), broker.end(*log)) for log in logs})
            if len(self.moments) > _MOMENTS:
                self.moments.pop(self._rng.randrange(len(self.moments)))
