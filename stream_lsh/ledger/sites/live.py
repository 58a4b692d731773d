"""Sites that mirror each other, kept current while pages and pairs of the ledger change.

The published state of two sites is a function of the live pairs, the newest versions of their pages, and the reported
page counts.  Only the start of the mirroring is stored separately: the least event time of all pairs that two sites
have had without a gap.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from stream_lsh.ledger.changes import LedgerChanges, MirrorChange, PairState, SiteCountState, SiteFirstState
from stream_lsh.ledger.sites.mirrors import PagePair, SiteMirrors, Sites, inside
from stream_lsh.ledger.sites.page_counts import PageCounts, PageTable

_Key = tuple[str, str]

_FLAGS = {(left, right): (left, right) for left in (False, True) for right in (False, True)}
"""Each combination of two flags as one object that all pairs share."""


class _Before(NamedTuple):
    """Two sites before a frame: their published state, and the event time of their first common pair of pages."""

    published: SiteMirrors | None
    first_ms: int | None


class Mirrors:
    """The sites of a ledger's pages.

    Args:
        threshold: share of a page's shingles that must be in another page.
        min_share: the least share of a site's pages in another site for a published pair of sites.
        pairs_of: returns the live pairs of a document.
        partitions: the number of source partitions.

    Guarantees:
        publishes nothing until every partition has completed a full report of its pages, then every qualifying pair:
        before that, shares would be too high.

    Cost:
        O(changes of pairs) for a frame, and O(sites that a site has pairs with) where its number of pages has changed;
        O(pairs of sites) once, for the frame with which the pages of all partitions are known;
        some 300 bytes for each pair of pages on different sites, and 100 for each page of the ledger.
    """

    def __init__(
        self, threshold: float, min_share: float, pairs_of: Callable[[str], Iterable[PairState]], partitions: int
    ) -> None:
        self._threshold, self._min_share = threshold, min_share
        self._pairs_of = pairs_of
        self._sites = Sites()
        self._pages = PageTable(partitions)
        self._is_complete = self._pages.is_known
        self._site_of: dict[str, str] = {}
        self._inside: dict[_Key, tuple[bool, bool]] = {}  # of pairs on different sites
        self._firsts: dict[_Key, int] = {}
        self._before: dict[_Key, _Before] = {}

    def begin(self, generation: int) -> None:
        """Set the current generation of the consumer group; see `PageTable.begin`."""
        self._pages.begin(generation)

    def settle(
        self, offset: int, changes: LedgerChanges, pages: PageCounts | None
    ) -> tuple[Sequence[MirrorChange], LedgerChanges]:
        """Apply a frame; returns the changes for the public topic, and its changelog record with the rows of sites.

        Args:
            offset: of the frame.
            changes: the settled changes of the frame, which the ledger contains.
            pages: the page report of the frame.
        """
        self._before.clear()
        if pages is not None:
            counts = self._pages.take(pages, offset)
            self._touch_all()
            self._count(counts)
            changes = replace(changes, site_counts=counts, site_origins=[self._pages.origin(pages.partition)])
        self._take(changes)
        mirror_changes, firsts, gone = list[MirrorChange](), list[SiteFirstState](), list[_Key]()
        for key, before in sorted(self._before.items()):
            first_ms, now = self._firsts.get(key), self._published(key)
            if now != before.published:
                mirror_changes.append(MirrorChange(*key, now))
            if first_ms is None and before.first_ms is not None:
                gone.append(key)
            elif first_ms is not None and first_ms != before.first_ms:
                firsts.append(SiteFirstState(*key, first_ms))
        if firsts or gone:
            changes = replace(changes, site_firsts=firsts, site_firsts_gone=gone)
        return mirror_changes, changes

    def apply(self, changes: LedgerChanges) -> None:
        """Apply a changelog record during recovery; the ledger contains its changes."""
        self._before.clear()
        self._count(changes.site_counts)
        for origin in changes.site_origins:
            self._pages.put_origin(origin)
        self._touch_all()
        self._take(changes)
        for left, right, first_ms in changes.site_firsts:
            self._firsts[left, right] = first_ms

    def rows(self) -> LedgerChanges:
        """The rows of sites for a snapshot."""
        firsts = [SiteFirstState(*key, first_ms) for key, first_ms in sorted(self._firsts.items())]
        return replace(self._pages.changes(), site_firsts=firsts)

    def published(self) -> list[MirrorChange]:
        """All published pairs of sites, in ascending order.  Cost: O(pairs of sites)."""
        states = ((key, self._published(key)) for key in sorted(self._firsts))
        return [MirrorChange(*key, now) for key, now in states if now is not None]

    # -- changes of pages and pairs

    def _touch_all(self) -> None:
        """Start to publish all site pairs once the page counts of all partitions are known."""
        if self._pages.is_known and not self._is_complete:
            for key in self._firsts:
                self._touch(key)
            self._is_complete = True

    def _count(self, counts: Iterable[SiteCountState]) -> None:
        for row in counts:
            for other in self._sites.partners(row.site):
                self._touch(_sorted(row.site, other))
            self._sites.add_pages(row.site, self._pages.put(row))

    def _take(self, changes: LedgerChanges) -> None:
        """Remove changed pairs in their old form, then add them in the new one; no intermediate state is published."""
        sites = {node.id: node.about.source for node in changes.nodes}
        moved = {id: site for id, site in sites.items() if self._site_of.get(id) != site}
        pairs = {(pair.left, pair.right): pair for id in moved if id in self._site_of for pair in self._pairs_of(id)}
        pairs |= {(pair.left, pair.right): pair for pair in changes.pairs}
        for left, right in (*changes.pairs_gone, *pairs):
            self._remove(left, right)
        self._site_of |= moved
        for pair in pairs.values():
            self._add(pair)
        for id in changes.nodes_gone:
            self._site_of.pop(id, None)
        for key in self._before:
            if key[1] not in self._sites.partners(key[0]):
                self._firsts.pop(key, None)

    def _add(self, pair: PairState) -> None:
        left = inside(pair.shared, pair.left_shingles, self._threshold)
        flags = _FLAGS[left, inside(pair.shared, pair.right_shingles, self._threshold)]
        pages = self._pages_of(pair.left, pair.right, flags)
        if not pages.apart:
            return
        self._touch(pages.sites)
        self._sites.add(pages)
        self._inside[pair.left, pair.right] = flags
        first_ms = max(pair.left_time_ms, pair.right_time_ms)
        self._firsts[pages.sites] = min(self._firsts.get(pages.sites, first_ms), first_ms)

    def _remove(self, left: str, right: str) -> None:
        flags = self._inside.pop((left, right), None)
        if flags is not None:
            pages = self._pages_of(left, right, flags)
            self._touch(pages.sites)
            self._sites.remove(pages)

    def _pages_of(self, left: str, right: str, flags: tuple[bool, bool]) -> PagePair:
        return PagePair(left, right, self._site_of.get(left, ""), self._site_of.get(right, ""), *flags)

    # -- published state

    def _touch(self, key: _Key) -> None:
        if key not in self._before:
            self._before[key] = _Before(self._published(key), self._firsts.get(key))

    def _published(self, key: _Key) -> SiteMirrors | None:
        """The state of two sites to publish; None while the page count of one is unknown."""
        first_ms, pair = self._firsts.get(key), self._sites.pair(*key)
        if not self._is_complete or first_ms is None or not (pair.left_pages and pair.right_pages):
            return None
        # Pairs can arrive before the count of their pages.
        left, right = max(pair.left_pages, pair.left_mirrored), max(pair.right_pages, pair.right_mirrored)
        site_mirrors = SiteMirrors(pair._replace(left_pages=left, right_pages=right), first_ms)
        return site_mirrors if site_mirrors.share >= self._min_share else None


def _sorted(left: str, right: str) -> _Key:
    return min(left, right), max(left, right)
