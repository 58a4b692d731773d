"""Sites that mirror each other: of two hosts, how many pages of the one are found in pages of the other.

A page is mirrored in another site if a page there has it: they are a match, and of its shingles the share that the
threshold asks for is in the other page.  With containment that may hold for the shorter one only, which tells the
direction: the excerpt is in the full page, not the other way round.

Source: K. Bharat and A. Broder, Mirror, mirror on the web: a study of host pairs with replicated content, Computer
Networks 31(11-16), 1999.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterator
from typing import NamedTuple, TypeVar

_Key = TypeVar("_Key", bound=Hashable)


class PagePair(NamedTuple):
    """Two pages that match, with their sites, and which of them is found in the other one."""

    left: Hashable
    right: Hashable
    left_site: str
    right_site: str
    left_in_right: bool = True
    right_in_left: bool = True

    @property
    def apart(self) -> bool:
        """Whether they are on two sites, both known."""
        return bool(self.left_site and self.right_site) and self.left_site != self.right_site

    @property
    def sites(self) -> tuple[str, str]:
        """Both, in ascending order."""
        return min(self.left_site, self.right_site), max(self.left_site, self.right_site)


def inside(shared: int, shingles: int, threshold: float) -> bool:
    """Whether a page is found in another one that has so many of its shingles.

    Where the measure does not tell how many shingles it has (0), it is the same for both pages of a match.
    """
    return not shingles or shared / shingles >= threshold


class SitePair(NamedTuple):
    """Two sites, `left` < `right`: pages of each, and how many of them are mirrored in the other."""

    left: str
    right: str
    left_pages: int
    right_pages: int
    left_mirrored: int
    right_mirrored: int

    @property
    def left_share(self) -> float:
        """Of the pages of the left site, the share that is mirrored in the right one."""
        return self.left_mirrored / max(self.left_pages, 1)

    @property
    def right_share(self) -> float:
        """The same of the right site."""
        return self.right_mirrored / max(self.right_pages, 1)


class SiteMirrors(NamedTuple):
    """Two sites, and the event time at which the first pair of their pages was there."""

    sites: SitePair
    first_ms: int

    @property
    def share(self) -> float:
        """The greater of the two shares."""
        return max(self.sites.left_share, self.sites.right_share)

    def direction(self, min_share: float) -> str:
        """Who is in whom: `both`, `left_in_right` or `right_in_left`."""
        left, right = self.sites.left_share >= min_share, self.sites.right_share >= min_share
        return "both" if left and right else "left_in_right" if left else "right_in_left"


class Sites:
    """Pages by site, and the pairs of sites that their matches make; pages without a site count nowhere.

    Guarantees:
        a function of the pages and of the pairs that are in, whatever came and went before.
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
        """So many pages more, or fewer where the number is negative."""
        if site:
            self.pages[site] += number
            if not self.pages[site]:
                del self.pages[site]

    def add(self, pair: PagePair) -> None:
        """A pair of pages that is not in."""
        for page, site, other, inside in _sides(pair):
            if inside:
                self._partners[page, other] += 1
                if self._partners[page, other] == 1:
                    self._mirrored[site, other] += 1
        if pair.apart:
            self._pairs[pair.left_site][pair.right_site] += 1
            self._pairs[pair.right_site][pair.left_site] += 1

    def remove(self, pair: PagePair) -> None:
        """A pair that is in, as it was put in."""
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
        """Two sites as they are, `left` < `right`."""
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
