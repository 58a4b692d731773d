"""How many pages each site has: said by the owner of every source partition, added up here.

The owner of a partition says now and then which counts have changed, and all of them once it has become the owner: a
*statement*, in several messages where it is long.  Counts are absolute, so what is said again changes nothing, and what
a statement leaves out is no more.  What a predecessor says late is passed over.  How many pages there are is known once
every partition has ended a statement, and for ever then: what is not said again still stands.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from stream_lsh.arrays import U32
from stream_lsh.ledger.changes import LedgerChanges, SiteCountState, SiteOriginState


class AsOf(NamedTuple):
    """Of which state of the table of documents something is: the last offset of its changelog, and its owner.

    The owner is known by the generation of the consumer group in which it said so.  A successor has read the changelog
    to its end, so what it says is never as of something earlier.
    """

    offset: int
    generation: int


@dataclass(frozen=True, slots=True)
class PageCounts:
    """Live pages by site, of one source partition.

    Attributes:
        partition: of the source.
        as_of: the state of the table that they are counted in.
        sites, counts: n sites, uint32[n].
        begins: the first message of a statement; ends: the last one.
    """

    partition: int
    as_of: AsOf
    sites: Sequence[str]
    counts: U32
    begins: bool = False
    ends: bool = False


class _Origin:
    """What the owners of one partition have said: the count of each site, and the offset at which that was."""

    __slots__ = ("as_of", "began", "counts", "ended")

    def __init__(self) -> None:
        self.as_of = AsOf(-1, -1)
        self.began = self.ended = -1
        self.counts: dict[str, tuple[int, int]] = {}


class PageTable:
    """What has been said of all partitions.

    Args:
        partitions: of the source.

    Cost: some 200 bytes for each site and partition.
    """

    def __init__(self, partitions: int) -> None:
        self._origins: dict[int, _Origin] = {}
        self._awaited = {*range(partitions)}

    @property
    def is_known(self) -> bool:
        """Whether every partition has ended a statement."""
        return not self._awaited

    def begin(self, generation: int) -> None:
        """The consumer group is in this generation: what was said in a later one is of a group that was forgotten.

        It stands, and anything that is said now counts over it.
        """
        for origin in self._origins.values():
            if origin.as_of.generation > generation:
                origin.as_of = AsOf(-1, -1)

    def take(self, report: PageCounts, offset: int) -> list[SiteCountState]:
        """The counts that change, 0 where a site is no more.

        Args:
            report: what came.
            offset: at which it came: ascending.
        """
        origin = self._origins.setdefault(report.partition, _Origin())
        if report.as_of < origin.as_of:
            return []
        origin.as_of = report.as_of
        if report.begins:
            origin.began = offset
        rows = [
            SiteCountState(report.partition, site, count, offset)
            for site, count in zip(report.sites, report.counts.tolist(), strict=True)
        ]
        if report.ends:
            self._end(report.partition, offset)
            named = {*report.sites}
            rows += [
                SiteCountState(report.partition, site, 0, offset)
                for site, (_, last) in origin.counts.items()
                if last < origin.began and site not in named
            ]
        return rows

    def put(self, row: SiteCountState) -> int:
        """A count as it is now; returns by how much it has changed."""
        counts = self._origins.setdefault(row.partition, _Origin()).counts
        before, _ = counts.pop(row.site, (0, 0))
        if row.pages:
            counts[row.site] = row.pages, row.reported_at
        return row.pages - before

    def origin(self, partition: int) -> SiteOriginState:
        """What is known of the last word about a partition."""
        origin = self._origins[partition]
        return SiteOriginState(partition, *origin.as_of, origin.began, origin.ended)

    def put_origin(self, row: SiteOriginState) -> None:
        """As it was when it was written down."""
        origin = self._origins.setdefault(row.partition, _Origin())
        origin.as_of, origin.began = AsOf(row.offset, row.generation), row.began
        if row.ended >= 0:
            self._end(row.partition, row.ended)

    def changes(self) -> LedgerChanges:
        """All of it, in ascending order of keys."""
        counts = [
            SiteCountState(partition, site, *count)
            for partition, origin in sorted(self._origins.items())
            for site, count in sorted(origin.counts.items())
        ]
        return LedgerChanges(
            site_counts=counts, site_origins=[self.origin(partition) for partition in sorted(self._origins)]
        )

    def _end(self, partition: int, offset: int) -> None:
        self._origins[partition].ended = offset
        self._awaited.discard(partition)
