"""The methods by which a pipeline of texts or sets finds candidates: `lsh` (nearly all matches) or `exact` (all)."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeAlias

from stream_lsh.errors import ConfigError
from stream_lsh.kinds.shingled.exact_scheme import ExactScheme
from stream_lsh.kinds.shingled.scheme import Settings, TextScheme
from stream_lsh.lsh.solver import Banding
from stream_lsh.measure.catalog import JACCARD, Measure
from stream_lsh.spelling import suggestion
from stream_lsh.text.catalog import DEFAULT
from stream_lsh.text.shingles import Shingler

ShingleScheme: TypeAlias = TextScheme | ExactScheme
"""The schemes of texts and of sets of items."""

LSH, EXACT = "lsh", "exact"
METHODS = (LSH, EXACT)
"""All names."""

RECALL, MAX_CANDIDATES = 0.99, 1_000  # defaults of a pipeline, which are valid with every method
_EARLIER_CANDIDATES = 200  # the default before, which saved files name


def text_scheme(
    method: str,
    threshold: float,
    shingles: str | Shingler = DEFAULT,
    *,
    recall: float = RECALL,
    slots: int = 128,
    normalise: Sequence[str] = ("nfc",),
    seed: int = 1,
    measure: Measure = JACCARD,
    min_characters: int = 0,
    kind_settings: Settings | None = None,
    banding: Banding | None = None,
) -> ShingleScheme:
    """The scheme of a method; the other arguments are those of `TextScheme` and `ExactScheme`.

    Raises:
        ConfigError: an unknown method, or invalid settings.

    Example:
        >>> text_scheme("exat", 0.9)
        Traceback (most recent call last):
        stream_lsh.errors.ConfigError: method: got 'exat', expected lsh or exact; did you mean 'exact'?
    """
    if method not in METHODS:
        expected = " or ".join(METHODS)
        raise ConfigError(f"method: got {method!r}, expected {expected}{suggestion(method, METHODS)}")
    scheme: Callable[..., ShingleScheme] = ExactScheme
    if method == LSH:
        scheme = partial(TextScheme, recall=recall, banding=banding)
    return scheme(
        threshold,
        shingles,
        slots=slots,
        normalise=normalise,
        seed=seed,
        measure=measure,
        min_characters=min_characters,
        kind_settings=kind_settings,
    )


def method_problems(method: str, recall: float, max_candidates: int | None) -> Iterator[tuple[str, str]]:
    """The settings that do not apply to a method, each with an error message; defaults are always valid."""
    if method != EXACT:
        return
    if recall != RECALL:
        yield "recall", f"got {recall:g}, expected none, as the method is {EXACT}, which finds all: only {LSH} uses it"
    if max_candidates not in (None, 0, _EARLIER_CANDIDATES, MAX_CANDIDATES):
        yield (
            "max_candidates",
            f"got {max_candidates}, expected none, as the method is {EXACT}, which has no caps: only {LSH} uses it",
        )


def most_candidates(method: str, max_candidates: int | None) -> int | None:
    """The most candidates per document with a method; 0: no caps; None: the default of a file."""
    return 0 if method == EXACT else max_candidates
