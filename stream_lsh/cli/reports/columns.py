"""The columns of files that a profile does not read, and the fields of a profile that no file has."""

from collections.abc import Collection, Iterable, Iterator

from stream_lsh.cli.output.terminal import plain
from stream_lsh.records.profile import Profile, folded

_MOST = 12


def unmatched_columns(profile: Profile, columns: Iterable[str], ignored: Collection[str]) -> Iterator[str]:
    """A line for the columns that the profile does not read, and one for the fields that are compared without a column.

    Args:
        profile: of the records.
        columns: of all files.
        ignored: the names of columns that are read for other reasons, such as the time.

    Example:
        >>> from stream_lsh.records.profile import Comparison, Field
        >>> fields = Field(name="surname"), Field(name="born"), Field(name="note")
        >>> comparisons = tuple(Comparison(field=name, comparator="exact") for name in ("surname", "born"))
        >>> profile = Profile(name="x", fields=fields, comparisons=comparisons)
        >>> [*unmatched_columns(profile, ["Surname", "shoe size", "time"], ["time"])]
        ['columns that the profile does not read: shoe size', 'compared fields without a column: born']
    """
    names = _names(profile)
    present = {folded(column): column for column in columns}
    unread = unread_columns(profile, present.values(), ignored)
    if unread:
        yield f"columns that the profile does not read: {_listed(unread)}"
    parts = {field.name: field.of for field in profile.fields}
    compared = {name for one in profile.comparisons for name in (one.field, *parts[one.field])}
    absent = [
        field.name for field in profile.fields
        if field.name in compared and not field.of and present.keys().isdisjoint(names[field.name])
    ]  # fmt: skip
    if absent:
        yield f"compared fields without a column: {_listed(absent)}"


def unread_columns(profile: Profile, columns: Iterable[str], ignored: Collection[str] = ()) -> list[str]:
    """The columns that a profile does not read; the arguments are those of `unmatched_columns`."""
    read = set().union({folded(name) for name in ignored}, *_names(profile).values())
    return [column for column in columns if folded(column) not in read]


def _names(profile: Profile) -> dict[str, set[str]]:
    """The names of the columns of each field, folded."""
    return {field.name: {folded(name) for name in (*field.columns, field.name)} for field in profile.fields}


def _listed(names: list[str]) -> str:
    more = [f"and {len(names) - _MOST} more"] if len(names) > _MOST else []
    return ", ".join([*map(plain, names[:_MOST]), *more])
