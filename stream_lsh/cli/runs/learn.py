"""Estimates the weights of a profile that has none from the records at hand, and reports it on standard error."""

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from stream_lsh.cli.output.atomic_files import report_lines
from stream_lsh.errors import ConfigError, InputError
from stream_lsh.files.discover import Input
from stream_lsh.files.inflate import STDIN
from stream_lsh.records.profile import Profile, without_weights

if TYPE_CHECKING:
    from stream_lsh.records.train.learning import Training


def learned_here(profile: Profile, records: int, learn: Callable[[], "Training"], *, quiet: bool = False) -> Profile:
    """The profile with weights estimated from the records; unchanged if it has weights, or if estimation fails.

    Args:
        profile: any.
        records: their number.
        learn: estimates the weights; raises InputError if the records do not allow it.
        quiet: write nothing to standard error.
    """
    if profile.learned:
        return profile
    which = without_weights(profile)
    begin = f"profile {profile.name!r} has no weights{which}"
    try:
        training = learn()
    except InputError as error:
        _say(f"{begin}, and they cannot be estimated: {error}; the score is a weighted mean", quiet)
        return profile
    _say(
        f"{begin}; estimated {'all weights' if which else 'them'}, without labels, from these {records:,} records",
        quiet,
    )
    from stream_lsh.cli.reports.training import warnings  # noqa: PLC0415 - loads the extra `records`

    for warning in warnings(training):
        _say(f"warning: {warning}", quiet)
    return training.profile


def names_of(inputs: Sequence[Input]) -> str:
    """The names of the files, for a message."""
    return ", ".join("standard input" if file.path == STDIN else file.path for file in inputs)


def check_comparable(
    profile: Profile, inputs: Sequence[Input], records: int, sources: Collection[str], *, values: bool
) -> None:
    """Check that at least two of several records can be compared.

    Args:
        profile: of the records.
        inputs: their files.
        records: their number.
        sources: their sources, each once.
        values: whether any of them has a value for a field of the profile.

    Raises:
        ConfigError: no two can be compared; the message names the likely cause.
    """
    if records and not values:
        raise ConfigError(
            f"{names_of(inputs)}: got no value for any field of the profile {profile.name!r}: do its `columns` have "
            "the names of the file? `stream-lsh profile infer` proposes a profile"
        )
    if records > 1 and profile.link == "link" and len(sources) < 2:
        raise ConfigError(
            f"{names_of(inputs)}: got records of one source, expected two or more: the profile {profile.name!r} "
            'compares records of different sources (link = "link"); name all files, or the column with '
            "--source-column"
        )


def _say(message: str, quiet: bool) -> None:
    if not quiet:
        report_lines([message])
