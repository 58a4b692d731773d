"""Reads labels: pairs of records that are matches, from a file of two columns."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from stream_lsh.arrays import I64
from stream_lsh.errors import ConfigError, InputError
from stream_lsh.files.lines import table_rows
from stream_lsh.kinds.record.rows import full_id

_NAMED = ("left", "right")


class Labels(NamedTuple):
    """The rows of both records of each pair, int64[n] each, and the number of pairs with an unknown id."""

    left: I64
    right: I64
    unknown: int

    @property
    def pairs(self) -> int:
        """The number of pairs."""
        return int(self.left.size)


def read_labels(path: str, rows: Mapping[str, int], sources: Sequence[str], encoding: str = "utf-8") -> Labels:
    """The pairs in a CSV file.

    An id is `source/id`, or the plain id if only one source has it.

    Args:
        path: of the file, with columns `left` and `right`, or with exactly two columns.
        rows: the row of each record by its id.
        sources: the source of each row.
        encoding: of the file.

    Raises:
        ConfigError: the file does not exist, or has other columns.
        InputError: a plain id that several sources have, or a file without a pair of known records.
    """
    try:
        lines = [row for row, _ in table_rows(path, "csv", [0], encoding=encoding, skip_space=True) if row]
    except OSError as error:
        raise ConfigError(f"{path}: got {error.strerror}, expected a file of pairs") from None
    first = [name.strip() for name in lines[0]] if lines and isinstance(lines[0], list) else []
    header = [name.lower() for name in first]
    if len(header) != 2 and not set(_NAMED) <= set(header):
        raise ConfigError(
            f"{path}: got the columns {', '.join(map(repr, header)) or 'none'}, expected `left` and `right`, or two "
            "columns of ids: pairs that are matches, and no other pairs"
        )
    places = (header.index("left"), header.index("right")) if set(_NAMED) <= set(header) else (0, 1)
    row_of, shared = _by_plain_id(rows, sources)
    if all(name in row_of for name in first):
        raise ConfigError(f"{path}: got ids of records in the first line, expected a header such as left,right")
    pairs, unknown = [], 0
    for row in lines[1:]:
        if not isinstance(row, list) or len(row) != len(header):
            raise InputError(
                "labels", f"{path}: got a row that is not {len(header)} columns as the header: {row!r:.80}"
            )
        ids = [row[place].strip() for place in places]
        for id in ids:
            if id in shared and id not in rows:
                raise InputError(
                    "labels", f"{path}: got the id {id!r}, which records of several sources have, expected source/{id}"
                )
        if not all(id in row_of for id in ids):
            unknown += 1
        elif row_of[ids[0]] != row_of[ids[1]]:
            pairs.append([row_of[id] for id in ids])
    if not pairs:
        raise InputError("labels", f"{path}: got {len(lines) - 1} pairs, none of them with two known records")
    left, right = np.array(pairs, np.int64).T
    return Labels(left, right, unknown)


def _by_plain_id(rows: Mapping[str, int], sources: Sequence[str]) -> tuple[dict[str, int], set[str]]:
    """The row of each id, full or plain, and the ambiguous plain ids."""
    row_of, shared = dict[str, int](), set[str]()
    for id, row in rows.items():
        plain = id.removeprefix(full_id(sources[row], ""))
        if plain in row_of:
            shared.add(plain)
        row_of[plain] = row
    return row_of | dict(rows), shared
