"""Reads labels: pairs of records that are matches, or that are not, from a file of two or three columns."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from stream_lsh.arrays import I64, Bools
from stream_lsh.errors import ConfigError, InputError
from stream_lsh.files.lines import table_rows
from stream_lsh.kinds.record.rows import full_id
from stream_lsh.records.profile import Profile
from stream_lsh.settings.units import counted

_NAMED = ("left", "right")
_MATCH = "match"
_ANSWERS = {
    **dict.fromkeys(("1", "true", "yes", "y", "match", "same"), True),
    **dict.fromkeys(("0", "false", "no", "n", "non-match", "different"), False),
}


class Labels(NamedTuple):
    """The labelled pairs that can be learned from.

    Attributes:
        left, right: the rows of both records of each pair, int64[n] each.
        match: the answers, bool[n].
        unknown: the number of other pairs that have an unknown id.
        within: the number of other pairs within one source that the profile does not link.
    """

    left: I64
    right: I64
    match: Bools
    unknown: int
    within: int

    @property
    def matches(self) -> tuple[I64, I64]:
        """The rows of the pairs that match."""
        return self.left[self.match], self.right[self.match]

    @property
    def non_matches(self) -> tuple[I64, I64]:
        """The rows of the pairs that do not match."""
        return self.left[~self.match], self.right[~self.match]

    @property
    def pairs(self) -> int:
        """The number of pairs."""
        return int(self.left.size)


def read_labels(
    path: str, profile: Profile, rows: Mapping[str, int], sources: Sequence[str], encoding: str = "utf-8"
) -> Labels:
    """The pairs in a CSV file.

    An id is `source/id`, or the plain id if only one source has it.

    Args:
        path: of the file, with columns `left` and `right`, or with exactly two columns.  A column `match` beside `left`
            and `right` has 1 or 0; without it all pairs are matches.
        profile: of the records.
        rows: the row of each record by its id.
        sources: the source of each row.
        encoding: of the file.

    Raises:
        ConfigError: the file does not exist, or has other columns, or a row that is no label, with its line: another
            answer, a second answer for a pair, or a plain id that several sources have.
        InputError: a file without a pair of known records that the profile links.
    """
    try:
        lines = [(row, at) for row, at in table_rows(path, "csv", [0], encoding=encoding, skip_space=True) if row]
    except OSError as error:
        raise ConfigError(f"{path}: got {error.strerror}, expected a file of pairs") from None
    first = [name.strip() for name in lines[0][0]] if lines and isinstance(lines[0][0], list) else []
    header = [name.lower() for name in first]
    if len(header) != 2 and not set(_NAMED) <= set(header):
        raise ConfigError(
            f"{path}: got the columns {', '.join(map(repr, header)) or 'none'}, expected `left` and `right`, or two "
            "columns of ids: pairs that are matches; a column `match` with 1 or 0 distinguishes non-matches"
        )
    places = (header.index("left"), header.index("right")) if set(_NAMED) <= set(header) else (0, 1)
    row_of, shared = rows_by_id(rows, sources)
    if all(name in row_of for name in first):
        raise ConfigError(f"{path}: got ids of records in the first line, expected a header such as left,right")
    answer_at = header.index(_MATCH) if set(_NAMED) <= set(header) and _MATCH in header else None
    pairs, answers, unknown = [], dict[tuple[int, int], bool](), 0
    for row, line in lines[1:]:
        if isinstance(row, InputError):
            raise ConfigError(f"{path}:{line}: {row}")
        if len(row) != len(header):
            raise ConfigError(f"{path}:{line}: got a row of {len(row)} fields, expected {len(header)} as in the header")
        ids = [row[place].strip() for place in places]
        for id in ids:
            if id in shared and id not in rows:
                raise ConfigError(
                    f"{path}:{line}: got the id {id!r}, which records of several sources have, expected source/{id}"
                )
        if not all(id in row_of for id in ids):
            unknown += 1
        elif row_of[ids[0]] != row_of[ids[1]]:
            same = True if answer_at is None else _answer(row[answer_at], f"{path}:{line}")
            left, right = (row_of[id] for id in ids)
            if answers.setdefault((min(left, right), max(left, right)), same) != same:
                raise two_answers(f"{path}:{line}", *ids)
            pairs.append([left, right, same])
    linked = [pair for pair in pairs if _links(profile, sources[pair[0]], sources[pair[1]])]
    if not linked:
        which = "two known records of different sources" if pairs else "two known records"
        raise InputError("labels", f"{path}: got {counted(len(lines) - 1, 'pair')}, none of them with {which}")
    ones, others, match = np.array(linked, np.int64).T
    return Labels(ones, others, match == 1, unknown, len(pairs) - len(linked))


def _links(profile: Profile, one: str, other: str) -> bool:
    """Whether two records of these sources can match."""
    return one != other or not (profile.link == "link" or (profile.one_to_one and one))


def answer_of(text: str) -> bool | None:
    """Whether a text names a match or a non-match; None for another text.

    Example:
        >>> answer_of("Yes"), answer_of("0"), answer_of("maybe")
        (True, False, None)
    """
    return _ANSWERS.get(text.strip().lower())


def two_answers(place: str, one: str, other: str) -> ConfigError:
    """The error about a pair that is labelled as a match and as a non-match."""
    return ConfigError(
        f"{place}: got the pair of {one!r:.60} and {other!r:.60} as a match and as a non-match, expected one answer "
        "for each pair"
    )


def _answer(text: str, place: str) -> bool:
    answer = answer_of(text)
    if answer is None:
        raise ConfigError(f"{place}: got {text!r:.40} in the column `match`, expected 1 or 0")
    return answer


def rows_by_id(rows: Mapping[str, int], sources: Sequence[str]) -> tuple[dict[str, int], set[str]]:
    """The row of each id, full or plain, and the ambiguous plain ids."""
    row_of, shared = dict[str, int](), set[str]()
    for id, row in rows.items():
        plain = id.removeprefix(full_id(sources[row], ""))
        if plain in row_of:
            shared.add(plain)
        row_of[plain] = row
    return row_of | dict(rows), shared
