"""Shinglers by name: `char:5` is five characters, `word:3` three words."""

import re
from collections.abc import Callable, Mapping

from stream_lsh.errors import ConfigError
from stream_lsh.text.char import CharShingler
from stream_lsh.text.shingles import Shingler
from stream_lsh.text.spelling import nearest
from stream_lsh.text.word import WordShingler

SHINGLERS: Mapping[str, Callable[[int, int], Shingler]] = {"char": CharShingler, "word": WordShingler}
"""Kind of shingle to its class."""

LARGEST_K = 64
"""Windows up to here are out of reach of the known attacks on polynomial hashes modulo 2^64."""


def shingler(spec: str, seed: int = 1) -> Shingler:
    """The shingler of a name `kind:k`.

    Args:
        spec: the kind and the number of characters or words, such as `char:5` or `word:3`.
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
    form = re.fullmatch(r"([a-z]+):([1-9][0-9]{0,2})", spec, re.ASCII)
    if form and form[1] in SHINGLERS and int(form[2]) <= LARGEST_K:
        return SHINGLERS[form[1]](int(form[2]), seed)
    expected = " or ".join(f"{kind}:<k>" for kind in SHINGLERS)
    raise ConfigError(
        f"shingles: got {spec!r}, expected {expected}, k from 1 to {LARGEST_K}; did you mean {_proposal(spec)!r}?"
    )


def _proposal(spec: str) -> str:
    """The valid spec that is next to a wrong one."""
    kind = nearest(re.sub(r"[^A-Za-z]", "", spec), SHINGLERS)
    number = re.search(r"[0-9]+", spec)
    digits = number[0][:4] if number else {"char": "5", "word": "3"}[kind]
    return f"{kind}:{min(max(int(digits), 1), LARGEST_K)}"
