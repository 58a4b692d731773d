"""Similar sets in memory: customers by their purchases, users by visited pages, fingerprints by their minutiae.

The core is that of `NearDuplicates`; the sets themselves are compared instead of texts.
"""

from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np

from stream_lsh.errors import ConfigError, MalformedMessage
from stream_lsh.kinds.in_frames import value_rows
from stream_lsh.kinds.in_memory import InMemory, cap_settings, check_limits, match_columns, match_of, similar_of
from stream_lsh.kinds.set.grid_scheme import FUNCTIONS, SIZE, GridScheme
from stream_lsh.kinds.set.messages import ItemsForm
from stream_lsh.kinds.set.scheme import set_scheme
from stream_lsh.kinds.shingled.methods import LSH, ShingleScheme, method_problems, most_candidates
from stream_lsh.ledger.clusters.guards.choice import NO_GUARDS, Guards
from stream_lsh.measure.catalog import JACCARD, measure_of
from stream_lsh.model import Document, Match, Similar
from stream_lsh.pipeline.limits import Limits
from stream_lsh.wire.arguments import row_of, validate_document

Items = Iterable[str | int]
"""The items of a set; an integer is equivalent to its decimal digits."""
_ROW = "a tuple of id, items and time"


class SimilarSets(InMemory):
    """Stores sets in memory and finds the similar ones.

    Args:
        threshold: least similarity of a match, above 0 and below 1.
        recall: probability that a pair at the threshold is found, within 0.001; it is greater for more similar pairs.
        retention_ms: match only sets whose times are within this span, and drop older sets; None: no limit.
        max_candidates: the most candidates per set; 0 lifts all caps; None: no cap at first, and 200
            after 20 million candidates or while 4 million pairs are kept.
        bag: repetitions count: the similarity is the sum of the lesser counts over the sum of the greater ones.
        measure: `jaccard`, shared items over the union of both sets, or `containment`, over the smaller set.
        size_ratio: only with `containment`: the greatest ratio of the sizes of two matching sets; None: 2.
        seed: of the hash functions.
        guards: conditions on a cluster besides its matches.
        squares: of the grid, if the sets are fingerprints: items are the squares, from 0 on, that have a minutia.
            Prints of one finger share too few squares for minhashing, so two prints are candidates if all squares of
            one function have a minutia in both; `recall` does not apply.  0: the sets are not fingerprints.
        functions: the number of functions, for fingerprints.
        size: squares in a function.
        method: `lsh`, or `exact`, which misses no pair and has no caps; `recall` does not apply then (guides/exact).

    Guarantees:
        every match is exact: no pair below the threshold is a match.  A pair at or above it is found with the
        probability `recall` or a greater one, within 0.001 at the threshold, over the choice of hash functions.  For
        fingerprints with a fifth of the squares occupied, two prints that agree in 80 % of them are found with a
        probability of .985, and two unrelated prints are compared with a probability of .063.
    Cost:
        some 20 us and 0.5 us an item, in batches; 0.6 KB beside the items.

    Raises:
        ConfigError: invalid settings.

    Example:
        >>> baskets = SimilarSets(threshold=0.5)
        >>> baskets.add("ann", ["milk", "bread", "tea"]), baskets.add("cid", [])
        ([], [])
        >>> for match in baskets.add("bob", ["bread", "tea", "milk", "salt"]):
        ...     print(match.left, match.right, match.similarity)
        ann bob 0.75
        >>> baskets.query(["tea", "bread"])
        [Similar(id='ann', similarity=0.6666666666666666, shared=2, union=3), \
Similar(id='bob', similarity=0.5, shared=2, union=4)]
        >>> baskets.clusters()
        [Cluster(id='ann', members=('bob', 'ann'))]

        >>> ratings = SimilarSets(threshold=0.3, bag=True)
        >>> found = ratings.add_many([("a", [*"abcc"]), ("b", [*"aacccc"])])
        >>> found[0].similarity == 3 / 7
        True
    """

    _KIND: ClassVar[str] = "similar-sets"

    def __init__(
        self,
        threshold: float = 0.8,
        recall: float = 0.99,
        retention_ms: int | None = None,
        max_candidates: int | None = None,
        *,
        bag: bool = False,
        measure: str = JACCARD.name,
        size_ratio: float | None = None,
        seed: int = 1,
        guards: Guards = NO_GUARDS,
        squares: int = 0,
        functions: int = FUNCTIONS,
        size: int = SIZE,
        method: str = LSH,
    ) -> None:
        others = [f"{name}: {problem}" for name, problem in method_problems(method, recall, max_candidates)]
        if squares and method != LSH:
            others.append(f"method: got {method}, expected {LSH} for fingerprints")
        check_limits(threshold, guards, retention_ms, max_candidates, others)
        chosen = measure_of(measure, size_ratio)
        settings: dict[str, Any] = {
            "threshold": threshold,
            "recall": recall,
            "retention_ms": retention_ms,
            "bag": bag,
            "seed": seed,
            "guards": guards.settings(),
            "squares": squares,
            "functions": functions,
            "size": size,
            **cap_settings(max_candidates),
            **({"method": method} if method != LSH else {}),
            **chosen.settings,
        }
        self._form = ItemsForm(bag, squares)
        scheme: ShingleScheme | GridScheme
        if squares:
            if not 0 < threshold < 1:
                raise ConfigError(f"threshold: got {threshold}, expected a number above 0 and below 1")
            if chosen != JACCARD:
                raise ConfigError(f"measure: got {chosen.name}, expected {JACCARD.name} for fingerprints")
            scheme = GridScheme(squares, functions=functions, size=size, seed=seed)
        else:
            scheme = set_scheme(method, threshold, recall=recall, seed=seed, measure=chosen, bag=bag)
        most = most_candidates(method, max_candidates)
        super().__init__(scheme, threshold, Limits.of(most, retention_ms, guards), settings)

    def add(self, id: str, items: Items, time_ms: int = 0) -> list[Match]:
        """Add a set, or replace the one with this id; returns all its matches, the most similar first.

        Args:
            id: 1 to 1,024 bytes of UTF-8.
            items: strings of at most 1,024 bytes and integers, those of numpy too, in any order; an empty set has no
                matches.
            time_ms: event time, milliseconds since the epoch.

        Raises:
            MalformedMessage, UnusableDocument: an unusable id, item or time; nothing was changed.
        """
        self._process([self._document(id, items, time_ms)])
        pairs = self._ledger.pairs_of(id)
        return sorted(map(match_of, pairs), key=lambda match: (-match.similarity, match.left, match.right))

    update = add

    def add_many(self, sets: Iterable[tuple[str, Items] | tuple[str, Items, int]]) -> list[Match]:
        """Add many sets at once, which is several times as fast; returns the matches that are new or changed.

        Args:
            sets: ids with items and optional times.

        Guarantees:
            the same result as adding them one by one, in their order.

        Raises:
            MalformedMessage, UnusableDocument: an unusable set; nothing was changed.
        """
        return [*map(match_of, self._process_many([self._document(*row_of(row, _ROW, 3)) for row in sets]))]

    def add_frame(self, data: Any, *, id: str = "id", items: str = "items", time: str | None = None) -> list[Match]:
        """Add the rows of a frame as sets; returns the matches that are new or changed.

        Args:
            data: a frame of pandas, polars or pyarrow, a `datasets.Dataset` (extra `frames`), or an iterable of dicts.
            id: the column of the ids, texts or whole numbers.
            items: the column of the lists of items; a row without one is an empty set.
            time: the column of the event times: times, texts, or numbers since 1970; None: all are 0.

        Raises:
            ConfigError: a column does not exist.
            MalformedMessage, UnusableDocument: an unusable id, set or time; nothing was changed.

        Example:
            >>> baskets = SimilarSets(threshold=0.5)
            >>> found = baskets.add_frame([{"id": 1, "items": ["tea", "milk"]}, {"id": 2, "items": ["milk", "tea"]}])
            >>> [(match.left, match.right, match.similarity) for match in found]
            [('1', '2', 1.0)]
        """
        rows = value_rows(self._table(data), id, ("items", items), time)
        return self.add_many([(one, () if values is None else values, time_ms) for one, values, time_ms in rows])

    def query(self, items: Items, time_ms: int | None = None) -> list[Similar]:
        """The sets that a set of these items would match, the most similar first; nothing is added.

        Args:
            items: any.
            time_ms: the event time of the query, for the retention; None: all stored sets are searched.

        Raises:
            MalformedMessage, UnusableDocument: unusable items.
        """
        return similar_of(self._pipeline.similar(self._text(items), time_ms))

    def matches(self) -> list[Match]:
        """All matches, ascending by their ids."""
        return [*map(match_of, self._ledger.snapshot().pairs)]

    def _pair_columns(self) -> tuple[dict[str, list[Any]], dict[str, type]]:
        return match_columns(self.matches())

    def _text(self, items: Items) -> str:
        if isinstance(items, str | bytes):  # is iterable, but its characters are hardly meant
            raise MalformedMessage("items", f"got {items!r:.60}, expected several items: put one into a list")
        if not isinstance(items, Iterable):
            hint = "; remove(id) removes a set" if items is None else ""
            raise MalformedMessage("items", f"got {type(items).__name__}, expected strings and integers{hint}")
        return self._form.text([one.item() if isinstance(one, np.generic) else one for one in items], "items")

    def _document(self, id: str, items: Items, time_ms: int = 0) -> Document:
        return validate_document(Document(id, self._text(items), time_ms))
