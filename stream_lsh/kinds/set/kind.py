"""The kind of sets of items, including fingerprints on a grid."""

from dataclasses import dataclass
from typing import ClassVar

from stream_lsh.kinds.comparison import PairwiseScheme
from stream_lsh.kinds.kind import Setting, StoredSize
from stream_lsh.kinds.results import Results, TextResults
from stream_lsh.kinds.set.scheme import set_scheme
from stream_lsh.kinds.set.settings import GRID, SetSettings
from stream_lsh.kinds.single_field_files import SingleFieldKind
from stream_lsh.pipeline.local import Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class SetKind(SetSettings, SingleFieldKind):
    """The kind of sets, with the settings of one pipeline."""

    name: ClassVar[str] = "set"
    plural: ClassVar[str] = "sets"

    def scheme(self) -> PairwiseScheme:
        """The scheme, which computes signatures and buckets and compares pairs."""
        if self.family == GRID:
            return self.grid_scheme()
        return set_scheme(
            self.method,
            self.threshold,
            recall=self.recall,
            slots=self.slots,
            seed=self.seed,
            measure=self.similarity,
            bag=self.bag,
            banding=self.banding(),
        )

    def pairwise(self) -> PairwiseScheme:
        """The scheme."""
        return self.scheme()

    def stored_settings(self) -> dict[str, Setting]:
        """The settings of the scheme."""
        return self.scheme().settings

    def stored_size(self) -> StoredSize:
        """The greatest size of a stored version; raises ConfigError if the settings contradict each other."""
        if self.family != GRID:
            return SetSettings.stored_size(self)
        scheme = self.grid_scheme()
        return StoredSize(scheme.slots, scheme.width)

    def limits(self, limits: Limits) -> Limits:
        """The limits, without caps if the method has none."""
        return SetSettings.limits(self, limits)

    def results(self, pipeline: str) -> Results:
        """Pairs, members, clusters."""
        return TextResults(pipeline, self.measure)
