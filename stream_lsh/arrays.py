"""Names for the arrays that pass between the rooms.

Columns are one-dimensional unless the name of the argument indicates otherwise; docstrings give the shapes.
"""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

U8: TypeAlias = npt.NDArray[np.uint8]
"""Kinds and small counts."""
U32: TypeAlias = npt.NDArray[np.uint32]
"""Slots of a signature, counts."""
U64: TypeAlias = npt.NDArray[np.uint64]
"""Hashes, buckets, refs."""
I64: TypeAlias = npt.NDArray[np.int64]
"""Offsets, row numbers, times in milliseconds since the epoch (event time)."""
F64: TypeAlias = npt.NDArray[np.float64]
"""Similarities."""
Bools: TypeAlias = npt.NDArray[np.bool_]
"""Masks and flags."""
