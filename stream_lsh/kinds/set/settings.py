"""The settings of a pipeline of sets."""

from dataclasses import dataclass, field
from functools import reduce
from typing import ClassVar

from stream_lsh.errors import ConfigError
from stream_lsh.kinds.kind import SharedSettings
from stream_lsh.kinds.set.grid_scheme import FUNCTIONS, MOST_FUNCTIONS, MOST_SQUARES, SIZE, GridScheme
from stream_lsh.kinds.set.messages import ItemsForm
from stream_lsh.kinds.shingled.settings import ShingleSettings
from stream_lsh.kinds.single_field import check_field_name
from stream_lsh.settings import value_types
from stream_lsh.settings.problems import Problems
from stream_lsh.settings.schema import key, keys_of, table
from stream_lsh.settings.toml import Path
from stream_lsh.settings.value_types import choice, whole

GRID = "grid"
FAMILIES = ("minhash", GRID)
"""The families of hash functions."""

_NOT_WITH_GRID = ("method", "recall", "slots", "bands", "rows", "measure", "size_ratio", "bag")
"""Keys that do not apply to a grid."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GridConfig:
    """The settings of fingerprints: the grid of the minutiae, and the functions that find prints of one finger."""

    squares: int = field(
        default=0,
        metadata=key(whole(0, MOST_SQUARES), "the number of squares; items are numbers from 0 to below it; required"),
    )
    functions: int = field(
        default=FUNCTIONS,
        metadata=key(
            whole(1, MOST_FUNCTIONS), "the number of functions; two prints are candidates if one holds for both"
        ),
    )
    size: int = field(
        default=SIZE, metadata=key(whole(1, 16), "the squares of a function, which holds if all contain a minutia")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SetSettings(ShingleSettings):
    """The settings of sets, which are matched by minhashing, or with `family = "grid"` by functions of a grid."""

    fields: ClassVar[frozenset[str]] = frozenset({"id", "time", "deleted", ItemsForm.field})

    bag: bool = field(
        default=False,
        metadata=key(
            value_types.FLAG, "repeated items count: the sum of the smaller counts over that of the larger ones"
        ),
    )
    family: str = field(
        default=FAMILIES[0],
        metadata=key(choice(FAMILIES), "the hash functions that find similar sets; `grid` is for fingerprints"),
    )
    grid: GridConfig = field(default=GridConfig(), metadata=table(GridConfig, "with the family `grid`"))

    @property
    def form(self) -> ItemsForm:
        """The form of the items."""
        return ItemsForm(self.bag, self.grid.squares if self.family == GRID else 0)

    def grid_scheme(self) -> GridScheme:
        """The scheme of the family `grid`; raises ConfigError if the settings contradict each other."""
        grid = self.grid
        return GridScheme(grid.squares, functions=grid.functions, size=grid.size, seed=self.seed)

    def check(self, path: Path, problems: Problems, shared: SharedSettings) -> None:
        """Report contradictions, keys of the other family, and a grid without squares."""
        check_field_name(ItemsForm.field, shared.fields, path, problems)
        if self.family == GRID:
            for name in _NOT_WITH_GRID:
                self._check_unset((name,), f"`family` {GRID} has settings of its own", path, problems)
            self._check_grid(path, problems)
            return
        ShingleSettings.check(self, path, problems, shared)
        for name in keys_of(GridConfig):
            self._check_unset(("grid", name), f"it requires `family` {GRID}", path, problems)

    def _check_unset(self, names: tuple[str, ...], why: str, path: Path, problems: Problems) -> None:
        """Report a key with another value than its default."""
        place = (*path, *names)
        value, default = reduce(getattr, names, self), reduce(getattr, names, SetSettings())
        if problems.has(place) and problems.is_valid(place, (*path, "family")) and value != default:
            problems.add(place, f"got it, expected none: {why}")

    def _check_grid(self, path: Path, problems: Problems) -> None:
        place = (*path, "grid", "squares")
        if not problems.is_valid(place, (*path, "grid", "size")):
            return
        if not self.grid.squares:
            problems.add(place, f"got none, expected the number of squares of the `family` {GRID}")
            return
        try:
            self.grid_scheme()
        except ConfigError as error:
            problems.add(place, str(error).removeprefix("grid.squares: "))
