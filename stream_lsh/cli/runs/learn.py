"""A profile that has learned nothing learns from the records at hand, and it is said that it did."""

from collections.abc import Callable, Collection, Sequence

from stream_lsh.cli.output.atomic_files import report_lines
from stream_lsh.errors import InputError
from stream_lsh.files.discover import Input
from stream_lsh.files.inflate import STDIN
from stream_lsh.records.profile import Profile

_FEW = 100
"""Records below which much of what is learned is chance."""


def learned_here(profile: Profile, records: int, learn: Callable[[], Profile], *, quiet: bool = False) -> Profile:
    """The profile with what the records say, unless it has learned already, or they say nothing.

    Args:
        profile: any.
        records: how many there are.
        learn: makes the profile that has learned from them; raises InputError where that cannot be.
        quiet: say nothing of it.
    """
    if profile.learned:
        return profile
    begin = f"{profile.name}: has learned nothing yet"
    try:
        learned = learn()
    except InputError as error:
        _say(f"{begin}, and cannot: {error}; a weighted mean stands in for the probability", quiet)
        return profile
    few = ", which are few: read its weights with care" if records < _FEW else ""
    _say(f"{begin}; learns, without labels, from these {records:,} records{few}", quiet)
    return learned


def names_of(inputs: Sequence[Input]) -> str:
    """The files for a message."""
    return ", ".join("standard input" if file.path == STDIN else file.path for file in inputs)


def check_comparable(
    profile: Profile, inputs: Sequence[Input], records: int, sources: Collection[str], *, values: bool
) -> None:
    """Nothing, unless no two of several records can ever be compared.

    Args:
        profile: of the records.
        inputs: where they come from.
        records: how many there are.
        sources: theirs, each once.
        values: whether any of them has a value for a field of the profile.

    Raises:
        InputError: with what may be the cause.
    """
    if records and not values:
        raise InputError(
            "fields",
            f"{names_of(inputs)}: got no value for any field of the profile {profile.name!r}: do its `columns` have "
            "the names of the file? `stream-lsh profile infer` proposes a profile",
        )
    if records > 1 and profile.link == "link" and len(sources) < 2:
        raise InputError(
            "records",
            f"{names_of(inputs)}: got records of one source, expected two or more: the profile {profile.name!r} "
            'compares records of different sources (link = "link"); name all files, or the column with '
            "--source-column",
        )


def _say(message: str, quiet: bool) -> None:
    if not quiet:
        report_lines([message])
