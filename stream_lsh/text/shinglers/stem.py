r"""Shingles of stems: words without their endings, so that `houses` and `house` are the same word.

For texts that were rewritten rather than copied, and for languages in which a word has many forms.  The words are those
of `word:k`; the stemmers are Snowball's, of an optional library: the extra `stem`.

Source: M. F. Porter, An algorithm for suffix stripping, Program 14 (1980), and Snowball, a language for stemming
algorithms (2001), for the languages that it has.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import chain

import numpy as np
from mmh3 import hash64

from stream_lsh.errors import ConfigError
from stream_lsh.spelling import suggestion
from stream_lsh.text.hashing.groups import GROUP, groups
from stream_lsh.text.hashing.tokens import WORDS, WORDS_1, lower_words, token_places, word_pattern
from stream_lsh.text.hashing.vocabulary import Vocabulary
from stream_lsh.text.shinglers.runs import Runs
from stream_lsh.text.shingles import FULL, Shingles, Units, join_shingles, offsets_of

LANGUAGES = (
    "ar", "ca", "cs", "da", "de", "el", "en", "eo", "es", "et", "eu", "fa", "fi", "fr", "ga", "hi", "hu", "hy", "id",
    "it", "lt", "ne", "nl", "no", "pl", "pt", "ro", "ru", "sr", "st", "sv", "ta", "tr", "yi",
)  # fmt: skip
"""The short codes of Snowball, ISO 639-1; older versions of the library lack some of them."""

SYNONYMS = "+"
"""The separator of the shingles and the digest of their synonyms in a name."""

_WORD_1 = re.compile(r"\w+")


class StemShingler:
    """Every run of k stems of a text, hashed; fewer are padded to one shingle, none give none.

    Args:
        language: the short code of Snowball, such as `en`; see `LANGUAGES`.
        k: words in a shingle, 1 to 64.
        seed: chooses the multipliers and the salts of the hashes.
        full: fewer than k words have no shingle.
        synonyms: words and their replacements; both stand for all words of the same stem.  Their digest is part of
            `spec`, so that signatures of other synonyms are not compared with these.
        first: marks separate words, as in version 1.

    Guarantees:
        equal runs of stems have equal hashes; different ones collide with a probability of some 2^-64 a pair.
    Cost:
        some 0.2 us a character; the stems of some 260,000 words are cached.

    Raises:
        ConfigError: the library is missing or has no such language -> install the extra, or use another language;
            synonyms that are not single words, or that have synonyms themselves -> use the last word of the chain.

    Example:
        >>> shingler = StemShingler("en", 2, synonyms={"cars": "automobile"})
        >>> shingles = shingler(["Two houses", "two House", "two cars", "TWO AUTOMOBILES"])
        >>> shingles.counts.tolist(), len({*shingles.hashes.tolist()})
        ([1, 1, 1, 1], 2)
    """

    def __init__(
        self,
        language: str,
        k: int,
        seed: int = 1,
        *,
        full: bool = False,
        synonyms: Mapping[str, str] | None = None,
        first: bool = False,
    ) -> None:
        self.version = 1 if first else 2
        self._tokeniser = WORDS_1 if first else WORDS
        self._word = _WORD_1 if first else word_pattern()
        self._lower: Callable[[str], str] = str.lower if first else lower_words
        self._stems, self.library = require(language)
        self._replacements = self._checked(synonyms or {})
        digest = f"{SYNONYMS}{_digest(self._replacements)}" if self._replacements else ""
        self.k = k
        self.language = language
        self.seed = seed
        self.spec = f"stem:{language}:{k}{digest}{FULL if full else ''}"
        self._runs = Runs(k, seed, full=full)
        self._vocabulary = Vocabulary(seed, self._reduced)

    def __call__(self, texts: Sequence[str]) -> Shingles:
        """The shingles of every text, in order."""
        if len(texts) > 1 and sum(map(len, texts)) > GROUP:
            return join_shingles([self(texts[group]) for group in groups(texts)])
        words = [self._word.findall(self._lower(text)) for text in texts]
        counts = np.fromiter(map(len, words), np.int64, len(words))
        return self._runs(self._vocabulary([*chain.from_iterable(words)]), offsets_of(counts))

    def units(self, text: str) -> Units:
        """The words of a text."""
        return self._runs.units(*token_places(text, self._tokeniser))

    def _reduced(self, words: list[str]) -> list[str]:
        stems = self._stems(words)
        return [self._replacements.get(stem, stem) for stem in stems] if self._replacements else stems

    def _checked(self, synonyms: Mapping[str, str]) -> dict[str, str]:
        """The stem that each stem is replaced with."""
        problems = [
            f"synonyms: got {word!r}, expected a single word of letters, digits and underscores"
            for word in chain.from_iterable(synonyms.items())
            if not self._word.fullmatch(self._lower(word))
        ]
        if problems:
            raise ConfigError(problems)
        replacements: dict[str, str] = {}
        for word, stems in sorted(synonyms.items()):
            stem, other = self._stems([self._lower(word), self._lower(stems)])
            if replacements.setdefault(stem, other) != other:
                problems.append(f"synonyms: got {word!r} for {stems!r}, but its stem {stem!r} is one of another word")
        problems += [
            f"synonyms: got {stem!r} for {other!r}, which itself is replaced, expected {replacements[other]!r}"
            for stem, other in replacements.items()
            if replacements.get(other, other) != other
        ]
        if problems:
            raise ConfigError(problems)
        return {stem: other for stem, other in replacements.items() if stem != other}


def require(language: str) -> tuple[Callable[[list[str]], list[str]], str]:
    """The stemmer of a language, and the library with its version.

    Raises:
        ConfigError: the library is missing or has no such language.
    """
    if language not in LANGUAGES:
        raise ConfigError(
            f"shingles: got the language {language!r}, expected one of {', '.join(LANGUAGES)}"
            f"{suggestion(language, LANGUAGES)}"
        )
    try:
        import Stemmer  # type: ignore[import-not-found]  # noqa: PLC0415 - optional
    except ImportError:
        raise ConfigError('shingles: stems need PyStemmer: pip install "stream_lsh[stem]"') from None
    try:
        stemmer = Stemmer.Stemmer(language, 0)  # it need not remember what the vocabulary does
    except KeyError:
        raise ConfigError(
            f'shingles: PyStemmer {Stemmer.version()} has no {language!r}: pip install --upgrade "stream_lsh[stem]"'
        ) from None
    return stemmer.stemWords, f"PyStemmer {Stemmer.version()}"


def _digest(replacements: Mapping[str, str]) -> str:
    listed = "\n".join(f"{stem} {other}" for stem, other in sorted(replacements.items()))
    return f"{hash64(listed.encode(), signed=False)[0]:016x}"
