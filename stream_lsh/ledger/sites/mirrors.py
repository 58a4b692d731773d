"""Sites that mirror each other: for two hosts, the number of pages of each that are contained in pages of the other.

A page is mirrored in another site if a page there contains it: the two match, and the other page holds at least the
threshold share of its shingles.  With containment only the shorter page may qualify, which defines the direction: the
full page contains the excerpt, not the reverse.

Source: K. Bharat and A. Broder, Mirror, mirror on the web: a study of host pairs with replicated content, Computer
Networks 31(11-16), 1999.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterator
from typing import NamedTuple, TypeVar

_Key = TypeVar("_Key", bound=Hashable)


class PagePair(NamedTuple):
    """Two matching pages, with their sites, and which page is contained in the other."""

    left: Hashable
    right: Hashable
    left_site: str
    right_site: str
    left_in_right: bool = True
    right_in_left: bool = True

    @property
    def apart(self) -> bool:
        """Whether the pages are on two different known sites."""
        return bool(self.left_site and self.right_site) and self.left_site != self.right_site

    @property
    def sites(self) -> tuple[str, str]:
        """Both sites, in ascending order."""
        return min(self.left_site, self.right_site), max(self.left_site, self.right_site)


def inside(shared: int, shingles: int, threshold: float) -> bool:
    """Whether a page is contained in another one that shares `shared` of its shingles.

    Without the number of its shingles (0, the measure does not report it), both pages of a match are contained.
    """
    return not shingles or shared / shingles >= threshold


class SitePair(NamedTuple):
    """Two sites, `left` < `right`: the pages of each, and the number of these that are mirrored in the other."""

    left: str
    right: str
    left_pages: int
    right_pages: int
    left_mirrored: int
    right_mirrored: int

    @property
    def left_share(self) -> float:
        """The share of the left site's pages that is mirrored in the right one."""
        return self.left_mirrored / max(self.left_pages, 1)

    @property
    def right_share(self) -> float:
        """The share of the right site's pages that is mirrored in the left one."""
        return self.right_mirrored / max(self.right_pages, 1)


class SiteMirrors(NamedTuple):
    """Two sites, and the event time of their first pair of pages."""

    sites: SitePair
    first_ms: int

    @property
    def share(self) -> float:
        """The greater of the two shares."""
        return max(self.sites.left_share, self.sites.right_share)

    def direction(self, min_share: float) -> str:
        """The direction of the mirroring: `both`, `left_in_right` or `right_in_left`."""
        left, right = self.sites.left_share >= min_share, self.sites.right_share >= min_share
        return "both" if left and right else "left_in_right" if left else "right_in_left"


class Sites:
    """Pages by site, and the pairs of sites with matching pages; pages without a site do not count.

    Guarantees:
        the state depends on the current pages and pairs only, not on earlier ones.
    Cost:
        O(1) for a page or a pair; two entries a pair of pages on different sites.

    Example:
        >>> sites = Sites()
        >>> sites.add_pages("a.org", 2)
        >>> sites.add_pages("b.org", 1)
        >>> sites.add(PagePair(1, 2, "a.org", "b.org"))
        >>> (found,) = sites
        >>> found.left_share, found.right_share
        (0.5, 1.0)
    """

    def __init__(self) -> None:
        self.pages = Counter[str]()
        self._partners = Counter[tuple[Hashable, str]]()  # of a page, in another site
        self._mirrored = Counter[tuple[str, str]]()  # pages of a site, in another one
        self._pairs = defaultdict[str, Counter[str]](Counter)  # of pages: of a site, with another one

    def add_pages(self, site: str, number: int) -> None:
        """Change the page count of a site by `number`, which may be negative."""
        if site:
            self.pages[site] += number
            if not self.pages[site]:
                del self.pages[site]

    def add(self, pair: PagePair) -> None:
        """Add a new pair of pages."""
        for page, site, other, inside in _sides(pair):
            if inside:
                self._partners[page, other] += 1
                if self._partners[page, other] == 1:
                    self._mirrored[site, other] += 1
        if pair.apart:
            self._pairs[pair.left_site][pair.right_site] += 1
            self._pairs[pair.right_site][pair.left_site] += 1

    def remove(self, pair: PagePair) -> None:
        """Remove a pair, given as it was added."""
        for page, site, other, inside in _sides(pair):
            if inside:
                _less(self._partners, (page, other))
                if (page, other) not in self._partners:
                    _less(self._mirrored, (site, other))
        if pair.apart:
            for site, other in ((pair.left_site, pair.right_site), (pair.right_site, pair.left_site)):
                _less(self._pairs[site], other)
                if not self._pairs[site]:
                    del self._pairs[site]

    def partners(self, site: str) -> Collection[str]:
        """The sites with which a site has a pair of pages."""
        return self._pairs[site].keys() if site in self._pairs else ()

    def pair(self, left: str, right: str) -> SitePair:
        """The current counts of two sites, `left` < `right`."""
        mirrored = self._mirrored
        return SitePair(left, right, self.pages[left], self.pages[right], mirrored[left, right], mirrored[right, left])

    def __iter__(self) -> Iterator[SitePair]:
        return (
            self.pair(site, other)
            for site in sorted(self._pairs)
            for other in sorted(self._pairs[site])
            if site < other
        )


def _sides(pair: PagePair) -> Iterator[tuple[Hashable, str, str, bool]]:
    if pair.apart:
        yield pair.left, pair.left_site, pair.right_site, pair.left_in_right
        yield pair.right, pair.right_site, pair.left_site, pair.right_in_left


def _less(counts: Counter[_Key], key: _Key) -> None:
    counts[key] -= 1
    if not counts[key]:
        del counts[key]
