"""The newest members of a cluster as a message lists them: JSON that grows at its beginning.

The ids of a large cluster lie far apart in memory, so copying and encoding a hundred of them takes longer than all
else that a frame does for the cluster.  A newcomer adds its own id and drops the last one.
"""

import json
from collections.abc import Sequence
from typing import overload

_quoted = json.encoder.encode_basestring
_BETWEEN = b'","'
"""Two ids follow each other here.  As JSON escapes quotes, only an id that ends with a comma can contain it too."""


class Listed(Sequence[str]):
    """Ids, equal to any sequence of the same ids.

    Attributes:
        json: the ids as a JSON array.

    Cost:
        `newer` copies bytes; all other access to the ids decodes them.

    Example:
        >>> Listed.of(["b", "a"]).newer(["c"], most=2).json, Listed.of(["b", "a"]) == ("b", "a")
        (b'["c","b"]', True)
    """

    __slots__ = ("_count", "json")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, json: bytes, count: int) -> None:
        self.json = json
        self._count = count

    @classmethod
    def of(cls, ids: Sequence[str]) -> "Listed":
        """Some ids.

        Raises:
            ValueError: one of them has a lone surrogate, or ends with a comma -> use the ids themselves.
        """
        return cls(b"[%b]" % _entries(ids), len(ids))

    def newer(self, ids: Sequence[str], most: int) -> "Listed":
        """The same with further ids at the beginning, fewer than `most`; truncated to the first `most`.

        Raises:
            ValueError: as `of`.
        """
        before, count = self.json, self._count + len(ids)
        end = len(before) - 1
        while count > most:
            end = before.rfind(_BETWEEN, 0, end) + 1
            count -= 1
        return Listed(b"[%b,%b]" % (_entries(ids), before[1:end]), count)

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[str, ...]: ...
    def __getitem__(self, at: int | slice) -> str | tuple[str, ...]:
        return self._ids()[at]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Listed):
            return self.json == other.json
        return isinstance(other, Sequence) and self._ids() == tuple(other)

    def __repr__(self) -> str:
        return repr(self._ids())

    def _ids(self) -> tuple[str, ...]:
        return tuple(json.loads(self.json))


def _entries(ids: Sequence[str]) -> bytes:
    for id in ids:
        if id.endswith(","):
            raise ValueError(f"got {id!a:.60}, expected an id that does not end with a comma")
    return (_quoted(ids[0]) if len(ids) == 1 else ",".join(map(_quoted, ids))).encode()
