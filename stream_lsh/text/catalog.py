"""Shinglers by name: `char:5` is five characters, `word:3` three words, `stopword:en` a stop word and two words."""

import re
from collections.abc import Callable, Mapping

from stream_lsh.errors import ConfigError
from stream_lsh.text.char import CharShingler
from stream_lsh.text.shingles import Shingler
from stream_lsh.text.spelling import nearest
from stream_lsh.text.stopword import StopwordShingler
from stream_lsh.text.stopwords import STOP_WORDS
from stream_lsh.text.word import WordShingler

WINDOWS: Mapping[str, Callable[[int, int], Shingler]] = {"char": CharShingler, "word": WordShingler}
"""Kind of shingle to its class, of those that are runs of k."""

LARGEST_K = 64
"""Windows up to here are out of reach of the known attacks on polynomial hashes modulo 2^64."""

SPECS = "char:<k>, word:<k> or stopword:<language>"
"""How a name is spelled."""

_STOPWORD = "stopword"
_USUAL = {"char": "char:5", "word": "word:3", _STOPWORD: "stopword:en"}


def shingler(spec: str, seed: int = 1) -> Shingler:
    """The shingler of a name.

    Args:
        spec: the kind, and the number of characters or words, or the language, such as `char:5`, `word:3` or
            `stopword:en`.
        seed: of the hashes; signatures of different seeds cannot be compared.

    Raises:
        ConfigError: a spec that is none -> take the spelling that the message proposes.

    Example:
        >>> shingler("word:3").spec
        'word:3'
        >>> shingler("words:3")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        stream_lsh.errors.ConfigError: shingles: got 'words:3', expected ...; did you mean 'word:3'?
    """
    kind, _, argument = spec.partition(":")
    if kind == _STOPWORD and argument in STOP_WORDS:
        return StopwordShingler(argument, seed)
    if kind in WINDOWS and re.fullmatch(r"[1-9][0-9]{0,2}", argument, re.ASCII) and int(argument) <= LARGEST_K:
        return WINDOWS[kind](int(argument), seed)
    raise ConfigError(
        f"shingles: got {spec!r}, expected {SPECS}, k from 1 to {LARGEST_K}, a language out of "
        f"{', '.join(STOP_WORDS)}; did you mean {_proposal(spec)!r}?"
    )


def _proposal(spec: str) -> str:
    """The valid spec that is next to a wrong one."""
    before, _, argument = spec.partition(":")
    kind = nearest(re.sub(r"[^A-Za-z]", "", before if argument else spec), _USUAL)
    if kind == _STOPWORD:
        return f"{kind}:{nearest(argument.strip(), STOP_WORDS)}" if argument.strip() else _USUAL[kind]
    number = re.search(r"[0-9]+", spec)
    return f"{kind}:{min(max(int(number[0][:4]), 1), LARGEST_K)}" if number else _USUAL[kind]
