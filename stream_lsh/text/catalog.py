"""Shinglers by name: `char:5` is five characters, `word:3` three words, `code:python:5` five tokens of Python.

A name is a kind and its arguments, separated by colons, with suffixes for the form of the shingles: `char:9/4`.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from stream_lsh.errors import ConfigError
from stream_lsh.spelling import nearest
from stream_lsh.text.narrow import EIGHT_BYTES, FOUR_BYTES, NarrowShingler
from stream_lsh.text.shinglers import code, stem
from stream_lsh.text.shinglers.bag import BagShingler
from stream_lsh.text.shinglers.capital import CapitalShingler
from stream_lsh.text.shinglers.char import CharShingler
from stream_lsh.text.shinglers.mixed import MixedShingler
from stream_lsh.text.shinglers.space import SpaceShingler
from stream_lsh.text.shinglers.stopword import StopwordShingler
from stream_lsh.text.shinglers.stopwords import STOP_WORDS
from stream_lsh.text.shinglers.word import WordShingler
from stream_lsh.text.shingles import FULL, Shingler

LARGEST_K = 64
"""Windows up to here are out of reach of the known attacks on polynomial hashes modulo 2^64."""


class Argument(NamedTuple):
    """An argument of a name.

    Attributes:
        shown: its name in explanations.
        expected: the description of valid texts.
        read: returns its value, or None for an invalid text.
        suggest: returns the valid spelling nearest to a wrong one; "" for an optional argument.
        usual: the suggestion for a missing argument; "" for an optional one.
    """

    shown: str
    expected: str
    read: Callable[[str], Any]
    suggest: Callable[[str], str]
    usual: str


class Kind(NamedTuple):
    """A kind of shingle.

    Attributes:
        arguments: the arguments after its name.
        make: makes the shingler from the values of the arguments, the seed and, if set, `full=True` and `first=True`.
        pads: a short text is one shingle, unless the name ends with `/full`.
        versions: the number of versions; with two, `make` takes `first=True`.
    """

    arguments: tuple[Argument, ...]
    make: Callable[..., Shingler]
    pads: bool = True
    versions: int = 1


def _k(text: str) -> int | None:
    fits = re.fullmatch(r"[1-9][0-9]{0,2}", text, re.ASCII) and int(text) <= LARGEST_K
    return int(text) if fits else None


def _k_suggestion(usual: str) -> Callable[[str], str]:
    def suggest(text: str) -> str:
        number = re.search(r"[0-9]+", text)
        return str(min(max(int(number[0][:4]), 1), LARGEST_K)) if number else usual

    return suggest


def _has_letters(text: str) -> bool:
    return any(map(str.isalpha, text))


def _runs(usual: str) -> Argument:
    return Argument("<k>", f"k from 1 to {LARGEST_K}", _k, _k_suggestion(usual), usual)


def _one_of(names: Iterable[str], expected: str, usual: str) -> Argument:
    listed = tuple(names)

    def suggest(text: str) -> str:
        short = text.strip()[:2].lower()  # `english`
        return usual if not _has_letters(text) else short if short in listed else nearest(text.strip(), listed)

    return Argument(
        "<language>",
        expected,
        lambda text: text if text in listed else None,
        suggest,
        usual,
    )


_STOP_WORDS = _one_of(STOP_WORDS, f"a language out of {', '.join(STOP_WORDS)}", "en")
_SNOWBALL = _one_of(stem.LANGUAGES, f"a language of Snowball: {', '.join(stem.LANGUAGES)}", "en")
# Only the library knows the valid aliases; the constructor of the shingler checks them.
_PYGMENTS = Argument(
    "<language>",
    "an alias of Pygments",
    lambda text: text or None,
    lambda text: text if _has_letters(text) else "",
    "python",
)
_RENAMED = Argument(
    f"[:{code.RENAMED}]",
    "",
    {"": False, code.RENAMED: True}.get,
    lambda text: code.RENAMED if text else "",
    "",
)

FIRST = "/v1"
"""The suffix of the name of a shingler whose words end at marks, as they did in version 1.

`spec` omits it: its name and its version identify a shingler, as they do in stored settings.
"""

KINDS: Mapping[str, Kind] = {
    "char": Kind((_runs("5"),), CharShingler),
    "word": Kind((_runs("3"),), WordShingler, versions=2),
    "stopword": Kind((_STOP_WORDS,), StopwordShingler, pads=False, versions=2),
    "capital": Kind((_runs("3"),), CapitalShingler, pads=False, versions=2),
    "mixed": Kind((_runs("3"),), MixedShingler, versions=2),
    "space": Kind((_runs("3"),), SpaceShingler),
    "stem": Kind((_SNOWBALL, _runs("3")), stem.StemShingler, versions=2),
    "code": Kind(
        (_PYGMENTS, _runs("5"), _RENAMED),
        lambda language, k, renamed, seed, **how: code.CodeShingler(language, k, seed, renamed=renamed, **how),
    ),
}
"""The kinds by name."""

BAG = "bag"
"""The name of the kind that wraps any other."""

_FORMS = {FULL: "full", FIRST: "first"}
"""Suffixes that are arguments of a shingler, by the argument."""
_ENDS = (FOUR_BYTES, EIGHT_BYTES, FULL, FIRST)


DEFAULT = "mixed:3"
"""The default of every command, of pipelines and of Python: words, and the letters of scripts without spaces."""
EARLIER_DEFAULT = "word:3"


def first_version(name: str) -> str:
    """The name of version 1 of a shingler, or the name itself if there is one version only."""
    kind = KINDS.get(_parts(name).kind)
    return f"{name}{FIRST}" if kind is not None and kind.versions > 1 and FIRST not in _parts(name).ends else name


def name_in(settings: Mapping[str, str | int | float]) -> str | None:
    """The name of the shingler that stored settings describe; None if they describe none of this version.

    Example:
        >>> name_in({"shingles": "word:3", "shingler_version": 1})
        'word:3/v1'
        >>> name_in({"shingles": "word:3", "shingler_version": 2})
        'word:3'
    """
    name, version = settings.get("shingles"), settings.get("shingler_version")
    if not isinstance(name, str):
        return None
    for candidate in (name, f"{name}{FIRST}"):
        try:
            if shingler(candidate).version == version:
                return candidate
        except ConfigError:
            continue
    return None


def as_stored(name: str, settings: Mapping[str, str | int | float]) -> str:
    """The name of the version that stored settings describe, if they have an earlier one of these shingles.

    Example:
        >>> stored = {"shingles": "word:3", "shingler_version": 1}
        >>> as_stored("word:3/8", stored), as_stored("word:2", stored)
        ('word:3/v1', 'word:2')
    """
    stored = name_in(settings)
    is_earlier = stored is not None and stored.endswith(FIRST) and settings.get("shingles") == shingler(name).spec
    return stored if stored is not None and is_earlier else name


def _explained(name: str) -> str:
    return name + "".join(
        f"{'' if argument.shown.startswith('[') else ':'}{argument.shown}" for argument in KINDS[name].arguments
    )


SPECS = (
    f"{', '.join(map(_explained, KINDS))} or {BAG}:<one of these>, at the end {FOUR_BYTES} for hashes of 4 bytes, "
    f"{FULL} for no shingles of short texts, {FIRST} for words that end at marks"
)
"""The syntax of names."""


def shingler(spec: str, seed: int = 1) -> Shingler:
    """The shingler of a name.

    Args:
        spec: the kind and its arguments, such as `char:5`, `stopword:en` or `code:python:5:renamed`; before it `bag:`,
            if repetitions count; after it `/4`, if hashes are kept in 4 bytes, and `/full`, if texts of fewer than k
            units have no shingles.
        seed: of the hashes; signatures of different seeds cannot be compared.

    Raises:
        ConfigError: an invalid spec -> use the spelling that the message suggests; a missing optional library ->
            install it.

    Example:
        >>> shingler("word:3").spec, shingler("bag:char:9/8").spec
        ('word:3', 'bag:char:9')
        >>> shingler("words:3")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        stream_lsh.errors.ConfigError: shingles: got 'words:3', expected ...; did you mean 'word:3'?
    """
    if not isinstance(spec, str):
        raise ConfigError(f"shingles: got {spec!r:.60}, expected a name, such as {DEFAULT!r}")
    parts = _parts(spec)
    kind = KINDS.get(parts.kind)
    values = _values(kind, parts.arguments) if kind else None
    if kind is None or values is None or not _fit(parts.ends, kind):
        raise ConfigError(_refusal(spec, parts))
    made = kind.make(*values, seed, **{name: True for end, name in _FORMS.items() if end in parts.ends})
    if parts.bag:
        made = BagShingler(made)
    return NarrowShingler(made) if FOUR_BYTES in parts.ends else made


class _Parts(NamedTuple):
    """The parts of a name, which may be invalid."""

    bag: bool
    kind: str
    arguments: list[str]
    ends: list[str]


def _parts(spec: str) -> _Parts:
    ends = list[str]()
    while endings := [end for end in _ENDS if spec.endswith(end)]:
        ends.append(endings[0])
        spec = spec.removesuffix(endings[0])
    bag = spec.startswith(f"{BAG}:")
    kind, *arguments = spec.removeprefix(f"{BAG}:").split(":")
    return _Parts(bag, kind, arguments, ends)


def _values(kind: Kind, arguments: list[str]) -> list[Any] | None:
    """The values of the arguments; None if one of them is missing, invalid or superfluous."""
    missing = len(kind.arguments) - len(arguments)
    if missing < 0 or "" in arguments:
        return None
    texts = [*arguments, *[""] * missing]
    values = [argument.read(text) for argument, text in zip(kind.arguments, texts, strict=True)]
    return None if None in values else values


def _fit(ends: list[str], kind: Kind) -> bool:
    """Whether a name may have these suffixes: a width once, `/full` if the kind pads, `/v1` if it has two versions."""
    widths = sum(end not in _FORMS for end in ends)
    return ends.count(FULL) <= kind.pads and ends.count(FIRST) < kind.versions and widths <= 1


def _refusal(spec: str, parts: _Parts) -> str:
    """The error message for an invalid name, with the nearest valid one."""
    kind_name = parts.kind if parts.arguments else re.sub(r"[^A-Za-z]", "", parts.kind)
    if parts.bag and kind_name == BAG:  # a bag of a bag is read as a bag
        kind_name, *parts.arguments[:] = parts.arguments or [""]
    name = _nearest_kind(kind_name)
    kind = KINDS[name]
    bag = f"{BAG}:" if parts.bag or parts.kind == BAG else ""
    texts = parts.arguments or re.findall(r"[0-9]+", parts.kind)[:1]  # `char5`
    suggest = [
        argument.suggest(text) or argument.usual
        for argument, text in zip(kind.arguments, [*texts, *[""] * len(kind.arguments)], strict=False)
    ]
    ends = "".join(end for end in dict.fromkeys(reversed(parts.ends)) if end != EIGHT_BYTES and _fit([end], kind))
    expected = ", ".join(argument.expected for argument in kind.arguments if argument.expected)
    proposal = f"{bag}{':'.join([name, *filter(None, suggest)])}{ends}"
    return f"shingles: got {spec!r}, expected {SPECS}; of {name}, {expected}; did you mean {proposal!r}?"


def _nearest_kind(kind_name: str) -> str:
    """The kind with the most similar name, among those with the same first letter if there are any."""
    kind_name = re.sub(r"[^a-z]", "", kind_name.lower())
    return nearest(kind_name, [name for name in KINDS if name[0] == kind_name[:1]] or KINDS)
