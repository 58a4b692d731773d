"""The items of a set in messages and tables: a list of strings and integers.

The items of a fingerprint are the squares of a grid that have a minutia, integers from 0 on.
"""

import json
from dataclasses import dataclass
from typing import Any, ClassVar

from stream_lsh.errors import ConfigError, MalformedMessage, UnusableDocument
from stream_lsh.kinds.set.content import items_of, items_text

MAX_ITEM_BYTES = 1_024
"""The longest item; the limit is that of ids."""
_LEAST, _MOST = -(1 << 63), (1 << 64) - 1
_BETWEEN = "|"


@dataclass(frozen=True, slots=True)
class ItemsForm:
    r"""The form of sets of items.

    Args:
        bag: whether repetitions count.
        squares: of a grid, if the items are its occupied squares; 0: any items.

    Example:
        >>> ItemsForm(bag=True).text(["b", "a", "b"], "items")
        'a\nb\nb\\2\n'
        >>> ItemsForm().value("a\nb\n"), ItemsForm().of_cell("a|b"), ItemsForm().of_cell('["a|b", 7]')
        (['a', 'b'], ['a', 'b'], ['a|b', 7])
    """

    bag: bool = False
    squares: int = 0

    field: ClassVar[str] = "items"

    def text(self, value: Any, name: str) -> str:
        """The text of the set.

        Raises:
            MalformedMessage, UnusableDocument: items.
        """
        if not isinstance(value, list | tuple | set | frozenset):
            got = "none" if value is None else f"a value of type {type(value).__name__}"
            raise MalformedMessage("items", f"got {got} as `{name}`, expected a list of strings and integers")
        for item in value:
            self._check(item, name)
        return items_text(value, bag=self.bag)

    def _check(self, item: object, name: str) -> None:
        if self.squares:
            if type(item) is not int or not 0 <= item < self.squares:
                problem = f"got {item!r:.60} in `{name}`, expected squares, integers from 0 to {self.squares - 1}"
                raise UnusableDocument("items", problem)
        elif type(item) is str:
            # 256 characters cannot exceed the limit, and almost every item is shorter.
            if len(item) > MAX_ITEM_BYTES // 4 and len(item.encode("utf-8", "surrogatepass")) > MAX_ITEM_BYTES:
                raise UnusableDocument(
                    "items",
                    f"got an item of {len(item)} characters in `{name}`, expected at most {MAX_ITEM_BYTES} bytes",
                )
        elif type(item) is not int:  # a bool is not accepted as a number
            problem = f"got {item!r:.60} in `{name}`, expected strings and integers"
            raise MalformedMessage("items", problem)
        elif not _LEAST <= item <= _MOST:
            raise UnusableDocument("items", f"got an integer of more than 64 bits in `{name}`, expected fewer digits")

    def value(self, text: str) -> list[str] | list[int]:
        """The items, in the order of the text; squares as numbers."""
        items = items_of(text)
        return [int(item) for item in items] if self.squares else items

    def of_cell(self, cell: str) -> Any:
        """The items in a cell of a table: a JSON list, or items separated by |; squares are separated by blanks."""
        if cell.lstrip().startswith("["):
            try:
                return json.loads(cell)
            except (ValueError, RecursionError):
                raise MalformedMessage("items", "got a cell that begins with [ and is no JSON list") from None
        if not self.squares:
            return cell.split(_BETWEEN) if cell else []
        try:
            return [int(square) for square in cell.replace(_BETWEEN, " ").split()]
        except ValueError:
            raise MalformedMessage("items", f"got {cell!a:.60}, expected squares, whole numbers") from None

    def __post_init__(self) -> None:
        if self.bag and self.squares:
            raise ConfigError("bag: got true, expected false: a square of a grid is occupied or is not")
