"""Groups that unite by the mean evidence of their pairs, against a slow union that adds up all pairs each time."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.ledger.clusters.guards.links import Links
from stream_lsh.ledger.clusters.guards.mean import evidence, united

PROBABILITIES = (0.1, 0.5, 0.6, 0.8, 0.95, 1.0)


@st.composite
def weighted(draw: st.DrawFn) -> Links:
    """A component with some pairs, in any order."""
    sizes = draw(st.lists(st.integers(1, 3), min_size=2, max_size=9))
    every = list(itertools.combinations(range(len(sizes)), 2))
    pairs = draw(st.lists(st.sampled_from(every), unique=True, max_size=len(every)))
    return Links(sizes, [(left, right, draw(st.sampled_from(PROBABILITIES))) for left, right in pairs])


def slow_united(links: Links) -> set[frozenset[int]]:
    """The union of groups whose pairs have a mean of 0 bits or more; an absent pair of documents counts -0.5."""
    parts = [{vertex} for vertex in range(len(links))]
    for left, right, _ in sorted(links.pairs, key=lambda pair: (-pair[2], *pair[:2])):
        first, second = (next(part for part in parts if vertex in part) for vertex in (left, right))
        if first is second:
            continue
        bits = [evidence(value) for a, b, value in links.pairs if {a, b} & first and {a, b} & second]
        documents = sum(links.sizes[a] * links.sizes[b] for a, b in itertools.product(first, second))
        if sum(bits) - 0.5 * (documents - len(bits)) >= -1e-9:
            first |= second
            parts.remove(second)
    return {frozenset(part) for part in parts}


@given(links=weighted())
def test_groups_unite_while_their_pairs_agree_on_average(links: Links) -> None:
    assert {frozenset(part) for part in united(links)} == slow_united(links)


@given(links=weighted(), data=st.data())
def test_the_order_of_the_pairs_does_not_matter(links: Links, data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(links.pairs))
    assert united(links) == united(Links(links.sizes, shuffled))


def test_a_single_match_does_not_unite_two_groups_of_four() -> None:
    groups = [(0, 1, 2, 3), (4, 5, 6, 7)]
    inside = [(a, b, 0.99) for group in groups for a, b in itertools.combinations(group, 2)]
    few = [(3, 4, 0.97)]
    assert united(Links([1] * 8, inside + few)) == [[*group] for group in groups]
    most = [(a, b, 0.97) for a, b in itertools.product(*groups) if (a, b) != (0, 7)]
    assert united(Links([1] * 8, inside + most)) == [[*range(8)]]
