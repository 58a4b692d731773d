"""Near-duplicates in memory: the pipeline of the stream as a library, for one process.

The same core, so the same pairs and the same groups as on Kafka; one document at a time or many.  It knows no clock:
time is what the documents say.
"""

from collections.abc import Iterable
from typing import Any, ClassVar

from stream_lsh.errors import ConfigError
from stream_lsh.kinds.in_memory import InMemory, check_limits, match_of, similar_of
from stream_lsh.kinds.shingled.methods import LSH, method_problems, most_candidates, text_scheme
from stream_lsh.ledger.clusters.guards.choice import NO_GUARDS, Guards
from stream_lsh.ledger.clusters.stories import story
from stream_lsh.measure.catalog import JACCARD, measure_of
from stream_lsh.model import About, Document, Match, Similar, Story
from stream_lsh.pipeline.local import Limits
from stream_lsh.wire.arguments import row_of, validate_document


class NearDuplicates(InMemory):
    """Documents in memory, and which of them are near-duplicates.

    Args:
        threshold: least similarity of a match, above 0 and below 1.
        shingles: what is compared: runs of k words (`word:3`) or characters (`char:5`), or another name of
            `stream_lsh.text.catalog`, such as `stopword:en` or `code:python:5`.
        recall: probability that a pair at the threshold is found, but for 0.001; more similar pairs have a greater one.
        retention_ms: match only documents whose times are within this span, and forget older ones; None: never.
        max_candidates: most documents that one is compared with; 0 lifts all caps.
        normalise: forms that texts are brought into first, such as `nfkc`, `casefold`, `space`, `accents`.
        seed: chooses the hash functions.
        guards: what holds a cluster together besides its matches; without, whatever matches connect is one cluster.
        measure: `jaccard`, shared shingles over those of both texts together, or `containment`, over those of the
            shorter one: excerpts, and pages within pages.
        size_ratio: only with `containment`: how many times as many shingles the longer text has at most; None: 2.
        stories: keep of each document its title and its outlet, too, for `stories`.
        method: `lsh`, or `exact`, which finds every match, without caps: for thresholds near 1.

    Guarantees:
        every match is exact: no pair below the threshold is one.  A pair at or above it is found with the probability
        `recall` or a greater one, but for 0.001 at the threshold, over the choice of hash functions.  Which pairs are
        found does not depend on the order of documents, caps aside.
    Cost:
        some 40 us a document of 3 KB in batches, 200 us alone; 1.2 KB beside the text.

    Raises:
        ConfigError: settings that cannot be.

    Example:
        >>> near = NearDuplicates(threshold=0.5)
        >>> near.add("a", "The quick brown fox jumps over the lazy dog")
        []
        >>> for match in near.add("b", "The quick brown fox jumps over the lazy cat"):
        ...     print(match.left, match.right, match.similarity)
        a b 0.75
        >>> near.query("A quick brown fox jumps over the lazy dog")[0]
        Similar(id='a', similarity=0.75, shared=6, union=8)
        >>> near.clusters(), near.cluster_of("c")
        ([Cluster(id='a', members=('b', 'a'))], None)
        >>> near.remove("a"), near.matches(), "a" in near, len(near)
        (True, [], False, 1)

        >>> near = NearDuplicates(measure="containment")
        >>> near.add("a", "The quick brown fox jumps over the lazy dog")
        []
        >>> for match in near.add("b", "The quick brown fox jumps over"):
        ...     print(match.similarity, match.shared, match.left_shingles, match.right_shingles)
        1.0 4 7 4
    """

    _KIND: ClassVar[str] = "near-duplicates"

    def __init__(
        self,
        threshold: float = 0.8,
        shingles: str = "word:3",
        recall: float = 0.99,
        retention_ms: int | None = None,
        max_candidates: int = 200,
        *,
        normalise: Iterable[str] = ("nfc",),
        seed: int = 1,
        guards: Guards = NO_GUARDS,
        measure: str = JACCARD.name,
        size_ratio: float | None = None,
        stories: bool = False,
        method: str = LSH,
    ) -> None:
        others = [f"{name}: {problem}" for name, problem in method_problems(method, recall, max_candidates)]
        check_limits(threshold, guards, retention_ms, max_candidates, others)
        settings: dict[str, Any] = {
            "threshold": threshold,
            "shingles": shingles,
            "recall": recall,
            "retention_ms": retention_ms,
            "max_candidates": max_candidates,
            "normalise": list(normalise),
            "seed": seed,
            "guards": guards.settings(),
            **({"stories": True} if stories else {}),
            **({"method": method} if method != LSH else {}),
        }
        chosen = measure_of(measure, size_ratio)
        if chosen != JACCARD:  # archives of the usual measure do not name it
            settings |= chosen.settings
        forms: list[str] = settings["normalise"]
        scheme = text_scheme(method, threshold, shingles, recall=recall, normalise=forms, seed=seed, measure=chosen)
        most = most_candidates(method, max_candidates)
        super().__init__(scheme, threshold, Limits.of(most, retention_ms, guards, stories=stories), settings)

    # -- changing

    def add(self, id: str, text: str, time_ms: int = 0, *, title: str = "", source: str = "") -> list[Match]:
        """Add a document, or replace the one of this id; returns all its matches, the most similar first.

        Args:
            id: 1 to 1,024 bytes of UTF-8.
            text: any; an empty one matches nothing.
            time_ms: event time, milliseconds since the epoch; it orders a cluster and is what the retention is about.
            title: what stories call it; without, the first line of the text.
            source: the outlet that published it.

        Raises:
            MalformedMessage, UnusableDocument: an id, a text, a time, a title or an outlet that cannot be used; nothing
                was changed.
            ConfigError: a title or an outlet, without stories.

        Example:
            >>> near = NearDuplicates()
            >>> near.add("a", "one two three four"), near.add("b", "one two three four five six")
            ([], [])
            >>> [match.similarity for match in near.add("b", "one two three four")]
            [1.0]
        """
        self._process([validate_document(Document(id, text, time_ms, About(title, source)), self._limits.stories)])
        pairs = self._ledger.pairs_of(id)
        return sorted(map(match_of, pairs), key=lambda match: (-match.similarity, match.left, match.right))

    update = add

    def add_many(self, documents: Iterable[Document | tuple[str, str] | tuple[str, str, int]]) -> list[Match]:
        """Add many documents at once, which is several times as fast; returns the matches that are new or changed.

        Args:
            documents: ids with texts and, if there are any, times; a `Document` without a text is removed, and a tuple
                without one is an error.  Of the `about` of a `Document`, title and source are taken.

        Guarantees:
            the same as adding them one by one, in their order.

        Raises:
            MalformedMessage, UnusableDocument: one that cannot be used; nothing was changed.

        Example:
            >>> near = NearDuplicates()
            >>> near.add_many([("a", "to be or not to be"), ("b", "To be, or not to be"), ("c", "that is all")])
            [Match(left='a', right='b', similarity=1.0, shared=4, union=4, left_time_ms=0, right_time_ms=0)]
        """
        stories, rows = self._limits.stories, "a Document, or a tuple of id, text and time"
        checked = [
            validate_document(document, stories, removable=True)
            if isinstance(document, Document)
            else validate_document(Document(*row_of(document, rows, 3)), stories)
            for document in documents
        ]
        return [*map(match_of, self._process_many(checked))]

    # -- asking

    def query(self, text: str, time_ms: int | None = None) -> list[Similar]:
        """Which documents a text would match if it were added, the most similar first; nothing is changed.

        Args:
            text: any.
            time_ms: its event time, for the retention; None: whatever is remembered counts.

        Guarantees:
            those that `add` would find, at most `max_candidates` of them compared.

        Example:
            >>> near = NearDuplicates()
            >>> near.query("anything at all")
            []
        """
        return similar_of(self._pipeline.similar(text, time_ms))

    def matches(self) -> list[Match]:
        """All matches among the documents that are here, ascending by their ids."""
        return [*map(match_of, self._ledger.snapshot().pairs)]

    def stories(self) -> list[Story]:
        """What the clusters tell, ascending by their ids.

        Raises:
            ConfigError: nothing was kept for stories.

        Example:
            >>> near = NearDuplicates(stories=True)
            >>> near.add("b", "To be, or not to be: that is all", 7, title="Dane in doubt", source="Globe")
            []
            >>> found = near.add("a", "To be, or not to be: that is all", 5, source="Rose")
            >>> (story,) = near.stories()
            >>> story.headline, story.first.source, [outlet.source for outlet in story.sources]
            ('To be, or not to be: that is all', 'Rose', ['Rose', 'Globe'])
        """
        if not self._limits.stories:
            raise ConfigError("got no titles and outlets, expected NearDuplicates(stories=True)")
        return [self._story(id) for id in sorted(self._ledger.ids.live)]

    def _story(self, id: str) -> Story:
        return story(self._ledger.ids.live[id], self._ledger.graph.nodes)
