"""Near-duplicates in memory: the pipeline of the stream as a library, for one process.

It has the same core as the worker, so it finds the same matches and clusters as on Kafka.  It adds one document at a
time or many.  It reads no clock: times are those of the documents.
"""

from collections.abc import Iterable
from typing import Any, ClassVar

from stream_lsh.errors import ConfigError, MalformedMessage
from stream_lsh.kinds.in_memory import InMemory, cap_settings, check_limits, match_columns, match_of, similar_of
from stream_lsh.kinds.shingled.methods import LSH, method_problems, most_candidates, text_scheme
from stream_lsh.ledger.clusters.guards.choice import NO_GUARDS, Guards
from stream_lsh.ledger.clusters.stories import story
from stream_lsh.measure.catalog import JACCARD, measure_of
from stream_lsh.model import About, Document, Match, Similar, Story
from stream_lsh.pipeline.limits import Limits
from stream_lsh.tables import ids_of, texts_of, times_of
from stream_lsh.text.catalog import DEFAULT
from stream_lsh.wire.arguments import row_of, validate_document


class NearDuplicates(InMemory):
    """Stores documents in memory and finds the near-duplicates among them.

    Args:
        threshold: least similarity of a match, above 0 and below 1.
        shingles: the unit of comparison: runs of k words and letters of scripts without spaces (`mixed:3`), of words
            (`word:3`) or characters (`char:5`), or another name of `stream_lsh.text.catalog`, such as `stopword:en`.
        recall: probability that a pair at the threshold is found, within 0.001; it is greater for more similar pairs.
        retention_ms: match only documents whose times are within this span, and drop older ones; None: no limit.
        max_candidates: the most candidates per document; 0 lifts all caps; None: no cap at first, and 200
            after 20 million candidates or while 4 million pairs are kept.
        normalise: the normal forms of texts, such as `nfkc`, `casefold`, `space`, `accents`.
        seed: of the hash functions.
        guards: conditions on a cluster besides its matches; without guards, matches alone connect a cluster.
        measure: `jaccard`, shared shingles over the union of both texts, or `containment`, over the shorter text, for
            excerpts, and pages within pages.
        size_ratio: only with `containment`: the greatest ratio of the sizes of two matching texts; None: 2.
        stories: also store the title and the outlet of each document, for `stories`.
        method: `lsh`, or `exact`, which finds every match, without caps: for thresholds near 1.
        min_characters: a shorter text has no matches.

    Guarantees:
        every match is exact: no pair below the threshold is a match.  A pair at or above it is found with the
        probability `recall` or a greater one, within 0.001 at the threshold, over the choice of hash functions.  The
        matches do not depend on the order of documents, except through caps.
    Cost:
        some 40 us a document of 3 KB in batches, 200 us alone; 1.2 KB beside the text.

    Raises:
        ConfigError: invalid settings.

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
        shingles: str = DEFAULT,
        recall: float = 0.99,
        retention_ms: int | None = None,
        max_candidates: int | None = None,
        *,
        normalise: Iterable[str] = ("nfc",),
        seed: int = 1,
        guards: Guards = NO_GUARDS,
        measure: str = JACCARD.name,
        size_ratio: float | None = None,
        stories: bool = False,
        method: str = LSH,
        min_characters: int = 0,
    ) -> None:
        others = [f"{name}: {problem}" for name, problem in method_problems(method, recall, max_candidates)]
        if isinstance(normalise, str):
            others.append(f"normalise: got {normalise!r}, expected a sequence of names, such as [{normalise!r}]")
        check_limits(threshold, guards, retention_ms, max_candidates, others)
        settings: dict[str, Any] = {
            "threshold": threshold,
            "shingles": shingles,
            "recall": recall,
            "retention_ms": retention_ms,
            "normalise": list(normalise),
            "seed": seed,
            "guards": guards.settings(),
            **({"stories": True} if stories else {}),
            **cap_settings(max_candidates),
            **({"method": method} if method != LSH else {}),
            **({"min_characters": min_characters} if min_characters else {}),
        }
        chosen = measure_of(measure, size_ratio)
        if chosen != JACCARD:  # archives do not name the default measure
            settings |= chosen.settings
        forms: list[str] = settings["normalise"]
        common: dict[str, Any] = {"recall": recall, "normalise": forms, "seed": seed, "measure": chosen}
        scheme = text_scheme(method, threshold, shingles, **common, min_characters=min_characters)
        most = most_candidates(method, max_candidates)
        super().__init__(scheme, threshold, Limits.of(most, retention_ms, guards, stories=stories), settings)

    # -- changing

    def add(self, id: str, text: str, time_ms: int = 0, *, title: str = "", source: str = "") -> list[Match]:
        """Add a document, or replace the one with this id; returns all its matches, the most similar first.

        Args:
            id: 1 to 1,024 bytes of UTF-8.
            text: any; an empty text has no matches.
            time_ms: event time, milliseconds since the epoch; it orders the members of a cluster, and the retention
                applies to it.
            title: for stories; by default the first line of the text.
            source: the outlet that published it.

        Raises:
            MalformedMessage, UnusableDocument: an unusable id, text, time, title or outlet; nothing was changed.
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
            documents: ids with texts and optional times; a `Document` without a text is removed, and a tuple without
                one is an error.  Title and source are those in the `about` of a `Document`.

        Guarantees:
            the same result as adding them one by one, in their order.

        Raises:
            MalformedMessage, UnusableDocument: an unusable document; nothing was changed.

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

    def add_frame(self, data: Any, *, id: str = "id", text: str = "text", time: str | None = None) -> list[Match]:
        """Add the rows of a frame as documents; returns the matches that are new or changed.

        Args:
            data: a frame of pandas, polars or pyarrow, a `datasets.Dataset` (extra `frames`), or an iterable of dicts.
            id: the column of the ids, texts or whole numbers.
            text: the column of the texts; a row without one matches nothing.
            time: the column of the event times: times, texts, or numbers since 1970; None: all are 0.

        Guarantees:
            the same result as `add_many`.

        Raises:
            ConfigError: a column does not exist, or the texts are no texts.
            MalformedMessage, UnusableDocument: an unusable id or time; nothing was changed.

        Example:
            >>> near = NearDuplicates()
            >>> rows = [{"key": 1, "body": "to be or not to be"}, {"key": 2, "body": "To be, or not to be"}]
            >>> found = near.add_frame(rows, id="key", text="body")
            >>> near.matches_frame()[0]["similarity"], near.clusters_frame()
            (1.0, [{'cluster': '1', 'id': '2'}, {'cluster': '1', 'id': '1'}])
        """
        table = self._table(data)
        texts = texts_of(table, "text", text)
        ids = ids_of(table, "id", id)
        times = times_of(table, "time", time, len(ids))
        return self.add_many(
            Document(one, text or "", time_ms) for one, text, time_ms in zip(ids, texts, times, strict=True)
        )

    # -- asking

    def query(self, text: str, time_ms: int | None = None) -> list[Similar]:
        """The documents that a text would match, the most similar first; nothing is added.

        Args:
            text: any.
            time_ms: the event time of the query, for the retention; None: all stored documents are searched.

        Guarantees:
            the matches that `add` would find, with at most `max_candidates` documents compared.

        Raises:
            MalformedMessage: the text is no string.

        Example:
            >>> near = NearDuplicates()
            >>> near.query("anything at all")
            []
        """
        if not isinstance(text, str):
            raise MalformedMessage("text", f"got {type(text).__name__} as the text of a query, expected a string")
        return similar_of(self._pipeline.similar(text, time_ms))

    def matches(self) -> list[Match]:
        """All matches, ascending by their ids."""
        return [*map(match_of, self._ledger.snapshot().pairs)]

    def _pair_columns(self) -> tuple[dict[str, list[Any]], dict[str, type]]:
        return match_columns(self.matches())

    def stories(self) -> list[Story]:
        """The stories of the clusters, ascending by their ids.

        Raises:
            ConfigError: constructed without `stories`.

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
