"""Sites that mirror each other: of two hosts, how many pages of the one are found in pages of the other.

A page is mirrored in another site if a page there has it: they are a match, and of its shingles the share that the
threshold asks for is in the other page.  With containment that may hold for the shorter one only, which tells the
direction: the excerpt is in the full page, not the other way round.

Source: K. Bharat and A. Broder, Mirror, mirror on the web: a study of host pairs with replicated content, Computer
Networks 31(11-16), 1999.
"""

from collections import Counter
from collections.abc import Hashable, Iterator
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


class Sites:
    """Pages by site, and the pairs of sites that their matches make; pages without a site count nowhere.

    Guarantees:
        a function of the pages and of the pairs that are in, whatever came and went before.
    Cost:
        O(1) for a page or a pair; two entries a pair of pages on different sites.

    Example:
        >>> sites = Sites()
        >>> for site in ("a.org", "a.org", "b.org"):
        ...     sites.add_page(site)
        >>> sites.add(PagePair(1, 2, "a.org", "b.org"))
        >>> (found,) = sites
        >>> found.left_share, found.right_share
        (0.5, 1.0)
    """

    def __init__(self) -> None:
        self.pages = Counter[str]()
        self._partners = Counter[tuple[Hashable, str]]()  # of a page, in another site
        self._mirrored = Counter[tuple[str, str]]()  # pages of a site, in another one
        self._pairs = Counter[tuple[str, str]]()

    def add_page(self, site: str) -> None:
        """A page more."""
        if site:
            self.pages[site] += 1

    def remove_page(self, site: str) -> None:
        """A page less."""
        if site:
            _less(self.pages, site)

    def add(self, pair: PagePair) -> None:
        """A pair of pages that is not in."""
        for page, site, other, inside in _sides(pair):
            if inside:
                self._partners[page, other] += 1
                if self._partners[page, other] == 1:
                    self._mirrored[site, other] += 1
        if _apart(pair):
            self._pairs[_key(pair)] += 1

    def remove(self, pair: PagePair) -> None:
        """A pair that is in, as it was put in."""
        for page, site, other, inside in _sides(pair):
            if inside:
                _less(self._partners, (page, other))
                if (page, other) not in self._partners:
                    _less(self._mirrored, (site, other))
        if _apart(pair):
            _less(self._pairs, _key(pair))

    def pair(self, left: str, right: str) -> SitePair:
        """Two sites as they are, `left` < `right`."""
        mirrored = self._mirrored
        return SitePair(left, right, self.pages[left], self.pages[right], mirrored[left, right], mirrored[right, left])

    def __iter__(self) -> Iterator[SitePair]:
        return (self.pair(*key) for key in sorted(self._pairs))


def _apart(pair: PagePair) -> bool:
    return bool(pair.left_site and pair.right_site) and pair.left_site != pair.right_site


def _key(pair: PagePair) -> tuple[str, str]:
    return min(pair.left_site, pair.right_site), max(pair.left_site, pair.right_site)


def _sides(pair: PagePair) -> Iterator[tuple[Hashable, str, str, bool]]:
    if _apart(pair):
        yield pair.left, pair.left_site, pair.right_site, pair.left_in_right
        yield pair.right, pair.right_site, pair.left_site, pair.right_in_left


def _less(counts: Counter[_Key], key: _Key) -> None:
    counts[key] -= 1
    if not counts[key]:
        del counts[key]
