"""The schemes of all kinds of data whose similarity depends on the two texts alone, and not on what else there is."""

from typing import TypeAlias

from stream_lsh.kinds.set.grid_scheme import GridScheme
from stream_lsh.kinds.shingled.exact_scheme import ExactScheme
from stream_lsh.kinds.shingled.scheme import TextScheme
from stream_lsh.kinds.vector.scheme import VectorScheme

ShingleScheme: TypeAlias = TextScheme | ExactScheme
"""Those of texts and of sets that are given as such."""

PairwiseScheme: TypeAlias = ShingleScheme | GridScheme | VectorScheme
"""All but that of records, whose score goes by frequencies."""
