"""Random histories of frames for a ledger."""

import random
from collections.abc import Iterator

from stream_lsh.ledger.edges import Edge, End
from stream_lsh.model import Retirement, make_ref
from stream_lsh.retention import Horizon

LEAST_FRAMES, MOST_FRAMES = 3, 60


class History:
    """Frames as a stream has them, calm and wild: edges that repeat, late and in any order, updates, deletes."""

    def __init__(self, seed: int) -> None:
        self._rng = rng = random.Random(seed)
        self.retention_ms = rng.choice((None, 5, 20, 100))
        self._ids = [f"d{number}" for number in range(rng.choice((4, 8, 20, 60)))]
        self._wide = rng.random() < 0.3
        self._digests = rng.choice((2, 6, 200))
        self._now_ms, self._offsets = 0, [0, 0]
        self._versions: dict[str, list[End]] = {id: [] for id in self._ids}
        self._flying: list[Edge] = []
        self._horizon = Horizon()
        self._sized = rng.random() < 0.5
        self._proved = rng.random() < 0.5

    def frames(self) -> Iterator[tuple[list[Retirement], list[Edge], Horizon | None]]:
        """LEAST_FRAMES to MOST_FRAMES of them."""
        rng = self._rng
        for _ in range(rng.randint(LEAST_FRAMES, MOST_FRAMES)):
            self._now_ms += rng.choice((0, 1, 3))
            calm = rng.random() < 0.6
            for _ in range(rng.choice((0, 1, 3, 10, 40 if self._wide else 2))):
                self._flying += [self._edge(calm)] * rng.randint(1, rng.choice((1, 2, 5)))
            rng.shuffle(self._flying)
            cut = rng.randint(0, len(self._flying))
            edges, self._flying = self._flying[:cut], self._flying[cut:]
            wild = not calm or rng.random() < 0.1
            retirements = [self._retirement() for _ in range(rng.randint(1, 3))] if wild else []
            yield retirements, edges, self._moved() if rng.random() < (0.08 if calm else 0.25) else None

    def _version(self, id: str) -> End:
        partition = int(id[1:]) % 2
        self._offsets[partition] += 1
        ref = make_ref(partition, self._offsets[partition])
        version = End(id, ref, self._now_ms + self._rng.randint(-10, 3), self._rng.randrange(self._digests))
        self._versions[id].append(version)
        return version

    def _edge(self, calm: bool) -> Edge:
        rng = self._rng
        one, other = (self._known(id, calm) for id in rng.sample(self._ids, 2))
        similarity = 0.9 if calm else rng.choice((0.5, 0.8, 0.9, 0.9, 1.0))
        shared = rng.randint(1, 2 if calm else 3)
        shingles = 1 + one.ref % 9 if self._sized else 0
        return Edge(one, other, similarity, shared, 10, shingles, rng.choice(("", "", "{}", "[1]")) * self._proved)

    def _known(self, id: str, calm: bool) -> End:
        known = self._versions[id] or [self._version(id)]
        return known[-1] if calm else self._rng.choice(known[-2:])

    def _retirement(self) -> Retirement:
        rng, id = self._rng, self._rng.choice(self._ids)
        keep_until_ms = max((version.time_ms for version in self._versions[id]), default=self._now_ms)
        known = self._versions[id]
        version = self._version(id) if rng.random() < 0.8 or not known else known[-1]
        deleted = rng.random() < 0.3
        digest = 0 if deleted else version.digest
        return Retirement(id, version.ref, version.time_ms, digest, deleted, keep_until_ms)

    def _moved(self) -> Horizon:
        one, other = self._offsets
        min_offsets = self._rng.choice(((), (0, 0), (max(0, one - 8),), (max(0, one - 20), max(0, other - 10))))
        self._horizon = self._horizon.max(Horizon(self._now_ms - self._rng.randint(5, 40), min_offsets))
        return self._horizon
