"""Sites that mirror each other, computed from the matches of files at the end, as text or as JSON lines."""

from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping

from stream_lsh.cli.output.results import Answers
from stream_lsh.cli.output.terminal import paragraphs, plain
from stream_lsh.cli.output.time_format import moment
from stream_lsh.ledger.changes import MatchChange
from stream_lsh.ledger.sites.mirrors import PagePair, SiteMirrors, Sites, inside
from stream_lsh.model import About
from stream_lsh.wire.public import mirror_value


def lines(answers: Answers, metadata: Mapping[str, tuple[int, About]], options: Namespace) -> Iterator[bytes]:
    """One JSON line for each pair of sites; as text several lines, with an empty one between two pairs."""
    mirrors = mirrors_of(answers.matches(), metadata, options.threshold, options.min_share)
    if options.json:
        return (mirror_value(mirror, options.min_share) for mirror in mirrors)
    return paragraphs(map(as_text, mirrors))


def mirrors_of(
    matches: Iterable[MatchChange], metadata: Mapping[str, tuple[int, About]], threshold: float, min_share: float
) -> list[SiteMirrors]:
    """Pairs of sites of which one has at least this share of its pages in the other one, the most alike first.

    Args:
        matches: pairs of pages that are known.
        metadata: time and site, by id.
        threshold: share of a page's shingles that must be in the other page.
        min_share: of a site's pages.
    """
    sites, first = Sites(), dict[tuple[str, str], int]()
    for _, about in metadata.values():
        sites.add_pages(about.source, 1)
    for match in matches:
        pair = page_pair(match, metadata[match.left][1].source, metadata[match.right][1].source, threshold)
        sites.add(pair)
        both = pair.sites
        seen = max(match.left_time_ms, match.right_time_ms)
        first[both] = min(first.get(both, seen), seen)
    mirrors = [SiteMirrors(site, first[site.left, site.right]) for site in sites]
    kept = [mirror for mirror in mirrors if mirror.share >= min_share]
    return sorted(kept, key=lambda one: (-one.share, -one.sites.left_mirrored - one.sites.right_mirrored, one))


def page_pair(match: MatchChange, left_site: str, right_site: str, threshold: float) -> PagePair:
    """The page of a match that is found in the other one: both if the measure is symmetric."""
    left = inside(match.shared, match.left_shingles, threshold)
    right = inside(match.shared, match.right_shingles, threshold)
    return PagePair(match.left, match.right, left_site, right_site, left, right)


def as_text(mirrors: SiteMirrors) -> Iterator[str]:
    """The lines of text of a pair."""
    sites = mirrors.sites
    left, right = plain(sites.left), plain(sites.right)
    yield f"{left} ~ {right}"
    yield f"  {_share(sites.left_mirrored, sites.left_pages)} pages of {left} are in {right}"
    yield f"  {_share(sites.right_mirrored, sites.right_pages)} pages of {right} are in {left}"
    if mirrors.first_ms:
        yield f"  since {moment(mirrors.first_ms)}"


def _share(mirrored: int, pages: int) -> str:
    return f"{mirrored / max(pages, 1):6.1%}: {mirrored:,} of {pages:,}"
