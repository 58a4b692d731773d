"""The grid of a pipeline of fingerprints, as configured."""

from dataclasses import dataclass, field

from stream_lsh.kinds.set.grid_scheme import FUNCTIONS, MOST_FUNCTIONS, MOST_SQUARES, SIZE
from stream_lsh.settings.schema import key
from stream_lsh.settings.value_types import whole


@dataclass(frozen=True, slots=True, kw_only=True)
class GridConfig:
    """Of fingerprints: the grid that minutiae lie on, and the functions that find prints of one finger."""

    squares: int = field(
        default=0, metadata=key(whole(0, MOST_SQUARES), "of the grid; items are numbers from 0 to below it; required")
    )
    functions: int = field(
        default=FUNCTIONS, metadata=key(whole(1, MOST_FUNCTIONS), "how many; two prints meet where one holds of both")
    )
    size: int = field(default=SIZE, metadata=key(whole(1, 16), "squares in a function, which all have a minutia"))
