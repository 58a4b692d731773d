"""The widest path, compared with every path."""

from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.ledger.graph.paths import Link, widest_path

IDS = "abcdefg"
graphs = st.dictionaries(
    st.tuples(st.sampled_from(IDS), st.sampled_from(IDS)).filter(lambda ends: ends[0] != ends[1]),
    st.sampled_from([0.5, 0.6, 0.7, 1.0]),
    max_size=12,
)


def every_path(at: str, goal: str, links: dict[tuple[str, str], float], been: tuple[str, ...]) -> Iterator[list[Link]]:
    """Every way from one to another that comes nowhere twice; a link can be gone both ways."""
    if at == goal:
        yield []
        return
    for (left, right), similarity in links.items():
        if at in (left, right):
            then = right if at == left else left
            if then not in been:
                for rest in every_path(then, goal, links, (*been, then)):
                    yield [Link(at, then, similarity), *rest]


@given(graphs)
def test_it_is_the_best_of_all_paths(links: dict[tuple[str, str], float]) -> None:
    links = {ends: value for ends, value in links.items() if ends < ends[::-1] or ends[::-1] not in links}
    found = widest_path("a", "b", [Link(*ends, value) for ends, value in links.items()])
    paths = [*every_path("a", "b", links, ("a",))]
    best = min(paths, key=lambda path: (-min(one.similarity for one in path), len(path), path), default=None)
    assert found == best


def test_of_two_links_between_the_same_documents_the_stronger_counts() -> None:
    links = [Link("a", "b", 0.6), Link("b", "a", 0.9), Link("b", "c", 0.8)]
    assert widest_path("a", "c", links) == [Link("a", "b", 0.9), Link("b", "c", 0.8)]


def test_a_long_chain_is_gone_to_its_end() -> None:
    chain = [Link(f"{at:05}", f"{at + 1:05}", 0.8) for at in range(5000)]
    assert widest_path("00000", "05000", chain[::-1]) == chain
    assert widest_path("00000", "05000", chain[1:]) is None
