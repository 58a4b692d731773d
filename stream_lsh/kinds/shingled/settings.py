"""The settings that texts and sets share, and the values derived from them."""

from dataclasses import dataclass, field, replace

from stream_lsh.errors import ConfigError
from stream_lsh.kinds.kind import SHADOW, SHADOW_MEANING, SharedSettings, StoredSize
from stream_lsh.kinds.shingled.methods import EXACT, LSH, METHODS, method_problems, text_scheme
from stream_lsh.kinds.shingled.scheme import banding_for
from stream_lsh.lsh.solver import Banding
from stream_lsh.measure.catalog import JACCARD, MEASURES, Measure, no_size_ratio
from stream_lsh.measure.containment import SIZE_RATIO, Containment
from stream_lsh.pipeline.limits import Limits
from stream_lsh.pipeline.local import BATCH
from stream_lsh.settings import value_types
from stream_lsh.settings.problems import Problems
from stream_lsh.settings.schema import key
from stream_lsh.settings.toml import Path
from stream_lsh.settings.value_types import choice, whole


@dataclass(frozen=True, slots=True, kw_only=True)
class ShingleSettings:
    """The settings of candidates and matches, for kinds with shingles."""

    threshold: float = field(default=0.8, metadata=key(value_types.SHARE, "the minimum similarity of a match"))
    method: str = field(
        default=LSH,
        metadata=key(choice(METHODS), "how matches are found: nearly all of them, set by `recall`, or all of them"),
    )
    measure: str = field(
        default=JACCARD.name,
        metadata=key(
            choice(MEASURES),
            "the similarity: shared shingles or items over those of both, or over those of the smaller one",
        ),
    )
    size_ratio: float = field(
        default=SIZE_RATIO,
        metadata=key(
            value_types.SIZE_RATIO,
            "only with `containment`: the maximum ratio of the sizes of two matching documents",
        ),
    )
    recall: float = field(
        default=0.99,
        metadata=key(
            value_types.SHARE, "the probability that a pair at the threshold is found; it increases with similarity"
        ),
    )
    slots: int = field(
        default=128,
        metadata=key(whole(1, 65_536), "the length of a signature; each slot takes 4 bytes per stored document"),
    )
    bands: int = field(
        default=0,
        metadata=key(
            whole(0, 65_536), "the number of bands of a signature, set together with `rows`; 0: chosen for the recall"
        ),
    )
    rows: int = field(
        default=0, metadata=key(whole(0, 65_536), "the number of slots in each band; `stream-lsh tune` advises")
    )
    seed: int = field(default=1, metadata=key(whole(0, (1 << 32) - 1), "chooses all hash functions"))
    shadow: float = field(default=SHADOW, metadata=key(value_types.LEAST_SHARE, SHADOW_MEANING))

    @property
    def least(self) -> float:
        """The least similarity of a published pair."""
        return self.threshold

    @property
    def similarity(self) -> Measure:
        """The measure as an object."""
        return Containment(self.size_ratio) if self.measure == Containment.name else JACCARD

    def banding(self) -> Banding | None:
        """Bands and rows, pinned or derived; None without bands.

        Raises:
            ConfigError: the settings contradict each other.
        """
        if self.method == EXACT:
            return None
        return banding_for(self.threshold, self.recall, self.slots, self.similarity, bands=self.bands, rows=self.rows)

    def stored_size(self) -> StoredSize:
        """The greatest size of a stored version; raises ConfigError if the settings contradict each other."""
        banding = self.banding()
        if banding is None:
            return StoredSize(self.slots, 0, retired=16 * self.slots * BATCH)
        return StoredSize(self.slots, banding.bands + 1)

    def limits(self, limits: Limits) -> Limits:
        """The limits, without caps if the method has none."""
        return replace(limits, cap_candidates=0, cap_postings=0) if self.method == EXACT else limits

    def check(self, path: Path, problems: Problems, shared: SharedSettings) -> None:
        """Report settings that contradict the measure, the method, or the number of slots."""
        self._check_size_ratio(path, problems)
        self._check_method(path, problems, shared.max_candidates)
        self._check_banding(path, problems)

    def _check_size_ratio(self, path: Path, problems: Problems) -> None:
        place = (*path, "size_ratio")
        unused = self.measure != Containment.name and self.size_ratio != SIZE_RATIO  # a default is always valid
        if unused and problems.is_valid(place, (*path, "measure")):
            problems.add(place, no_size_ratio(self.size_ratio))

    def _check_method(self, path: Path, problems: Problems, max_candidates: int) -> None:
        if not problems.is_valid((*path, "method")):
            return
        for name, problem in method_problems(self.method, self.recall, max_candidates):
            if problems.is_valid((*path, name)):
                problems.add((*path, name), problem)
        for name in ("bands", "rows") if self.method == EXACT else ():
            if getattr(self, name) and problems.is_valid((*path, name)):
                problems.add((*path, name), f"got it, expected none, as the method is {EXACT}: only {LSH} has bands")
        if self.method == EXACT and problems.is_valid((*path, "slots")):
            try:
                text_scheme(EXACT, 1.0, slots=self.slots)
            except ConfigError as error:
                problems.add((*path, "slots"), str(error).removeprefix("slots: "))

    def _check_banding(self, path: Path, problems: Problems) -> None:
        if self.method != LSH:
            return
        names = ["slots", "recall", "threshold"]
        if self.measure == Containment.name:
            names.insert(0, "size_ratio")
        pinned = ("bands", "rows")
        if not problems.is_valid(*((*path, name) for name in (*names, *pinned, "measure"))):
            return
        set_keys = [name for name in pinned if getattr(self, name)]
        if len(set_keys) == 1:
            problems.add(
                (*path, set_keys[0]),
                f"got it alone, expected {' and '.join(f'`{name}`' for name in pinned)} or neither",
            )
            return
        names[:0] = set_keys
        try:
            self.banding()
        except ConfigError as error:
            name = next(name for name in names if problems.has((*path, name)))  # the defaults are consistent
            *others, last = [f"`{other}`" for other in sorted(names, reverse=True) if other != name]
            problems.add((*path, name), f"with {', '.join(others)} and {last}: {error}")
