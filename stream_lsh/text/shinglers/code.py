r"""Shingles of source code: runs of k tokens of a programming language, without comments and white space.

A copy loses layout and comments first, and names next, so there are two modes: unchanged names, or, with `renamed`,
each name and each literal replaced by its class, so that renaming changes nothing.  The tokens are those of Pygments,
an optional library: the extra `code`.

The tokens are defined as follows:

- comments and docstrings are no tokens: both are written for readers, and may change while the code stays the same;
- a literal is one token, regardless of its parts in the lexer; the names in an f-string are tokens between its parts;
- the sign of a decorator is a token, and its name another;
- a preprocessor line is code: its words and signs are tokens;
- each character that the lexer does not recognise is a token, so broken code has shingles too; after the failure of a
  lexer, the rest is split into words;
- of long repetitions (of up to four characters, or of white space) only some 40 count: some patterns of lexers take
  time quadratic in such a run, hours for a document of empty lines.

With `renamed`, keywords, operators, punctuation and the names that the language itself defines stay unchanged,
including those for decorators, as far as Pygments knows them.

Source: S. Schleimer, D. Wilkerson and A. Aiken, Winnowing: local algorithms for document fingerprinting, SIGMOD 2003,
for the normal form of programs; this module takes the k-grams of all tokens, where winnowing takes a sample.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from stream_lsh.arrays import I64
from stream_lsh.errors import ConfigError
from stream_lsh.spelling import suggestion
from stream_lsh.text.hashing.groups import GROUP, groups
from stream_lsh.text.hashing.vocabulary import Vocabulary
from stream_lsh.text.shinglers.runs import Runs
from stream_lsh.text.shingles import FULL, Shingles, Units, join_shingles, offsets_of

RENAMED = "renamed"
"""The last part of the name of shingles that are independent of names."""

DROPPED, KEPT, NAME, DOUBTFUL, STRING, LITERAL, DIRECTIVE, PROSE = range(8)
"""The treatment of a token: dropped; unchanged; a name chosen by the programmer; a name that the language may define;
part of a string; another literal; split into words and signs; split into words."""

_CLASS_OF_NAMES, _CLASS_OF_STRINGS, _CLASS_OF_LITERALS = "\0name", "\0string", "\0literal"
_WORDS = re.compile(r"\S+")
_WORDS_AND_SIGNS = re.compile(r"\w+|[^\w\s]")
_NAME = re.compile(r"\w+\Z")
_TWO_ENDS = re.compile(r"\r\n")
# Twelve at a time, so that quotes in threes and backslashes in twos keep their meaning.
_REPEATED = re.compile(r"(.{1,4}?)\1{30}((?:\1{12})+)|\n\s{63}(\s+)", re.DOTALL)
_UNREAD = ("Other",)
"""The kind of the text after a failure of the lexer."""


class _Token(NamedTuple):
    start: int
    end: int
    text: str


class CodeShingler:
    r"""Every run of k tokens of a text in a programming language, hashed; fewer are padded to one shingle.

    Args:
        language: an alias of Pygments, such as `python`, `c++` or `js`.
        k: tokens in a shingle, 1 to 64.
        seed: chooses the multipliers and the salts of the hashes.
        renamed: names and literals count by their class only.
        full: fewer than k tokens have no shingle.

    Guarantees:
        equal runs of tokens have equal hashes; different ones collide with a probability of some 2^-64 a pair.  No text
        raises an exception, whether or not it is code.
    Cost:
        that of Pygments: some microseconds a character.

    Raises:
        ConfigError: the library is missing or has no such language -> install the extra, or use the suggestion.

    Example:
        >>> left, right = "def f(a):  # one\n    return a + 1", "def total(items):\n    return items + 22\n"
        >>> as_it_is, renamed = CodeShingler("python", 3), CodeShingler("python", 3, renamed=True)
        >>> [len({*s([left]).hashes.tolist()} & {*s([right]).hashes.tolist()}) for s in (as_it_is, renamed)]
        [1, 8]
    """

    version = 1

    def __init__(self, language: str, k: int, seed: int = 1, *, renamed: bool = False, full: bool = False) -> None:
        self._lexer = require(language)
        self.library = f"Pygments {_pygments_version()}"
        self.k = k
        self.language = language
        self.renamed = renamed
        self.seed = seed
        self.spec = f"code:{language}:{k}{f':{RENAMED}' if renamed else ''}{FULL if full else ''}"
        self._runs = Runs(k, seed, full=full)
        self._vocabulary = Vocabulary(seed)
        self._roles: dict[Any, int] = {}
        self._own_names: dict[str, bool] = {}

    def __call__(self, texts: Sequence[str]) -> Shingles:
        """The shingles of every text, in order."""
        if len(texts) > 1 and sum(map(len, texts)) > GROUP:
            return join_shingles([self(texts[group]) for group in groups(texts)])
        tokens, counts = list[str](), list[int]()
        for text in texts:
            before = len(tokens)
            tokens += self.tokens(text)
            counts.append(len(tokens) - before)
        return self._runs(self._vocabulary(tokens), offsets_of(np.array(counts, np.int64)))

    def tokens(self, text: str) -> list[str]:
        """The compared tokens of a text; with `renamed`, classes replace names and literals."""
        return [token.text for token in self._tokens(readable(text)[0])]

    def units(self, text: str) -> Units:
        """The tokens of a text."""
        lines, places = readable(text)
        spans = np.array([(token.start, token.end) for token in self._tokens(lines)], np.int64).reshape(-1, 2)
        starts, ends = np.maximum.accumulate(spans[:, 0]), np.maximum.accumulate(spans[:, 1])
        return self._runs.units(places[starts], places[ends - 1] + 1)

    def _tokens(self, text: str) -> Iterator[_Token]:
        """The tokens of a text; adjacent parts of a literal are one token."""
        literal: _Token | None = None
        for at, kind, value in lexed(self._lexer, text):
            role = self._roles.get(kind)
            if role is None:
                role = self._roles[kind] = _role(kind)
            if role == STRING:
                if literal and literal.end == at:
                    literal = _Token(literal.start, at + len(value), literal.text + value)
                    continue
                yield from self._whole(literal)
                literal = _Token(at, at + len(value), value)
                continue
            yield from self._whole(literal)
            literal = None
            if role != DROPPED:
                yield from self._parts(role, at, value)
        yield from self._whole(literal)

    def _whole(self, literal: _Token | None) -> Iterator[_Token]:
        """A literal as a token, if there is one, without the white space after an unclosed one."""
        if literal and (text := literal.text.rstrip()):
            end = literal.start + len(text)
            yield _Token(literal.start, end, _CLASS_OF_STRINGS if self.renamed else text)

    def _parts(self, role: int, at: int, value: str) -> Iterator[_Token]:
        """The tokens of a lexer token that is not a string."""
        if role == DOUBTFUL:
            # The lexer token of a decorator includes its sign: `@` is one token, the name another.
            name = _NAME.search(value)
            sign = value[: name.start()] if name else value
            yield from self._parts(KEPT, at, sign)
            if name:
                own = self._is_the_languages_own(name[0])
                yield from self._parts(KEPT if own else NAME, at + len(sign), name[0])
            return
        if role in (DIRECTIVE, PROSE):
            for match in (_WORDS_AND_SIGNS if role == DIRECTIVE else _WORDS).finditer(value):
                of_part = KEPT if role == PROSE else _role_in_directive(match[0])
                yield _Token(at + match.start(), at + match.end(), self._shown(of_part, match[0]))
            return
        text = value.strip()
        if text:
            start = at + value.index(text)
            yield _Token(start, start + len(text), self._shown(role, text))

    def _shown(self, role: int, text: str) -> str:
        if not self.renamed or role == KEPT:
            return text
        return _CLASS_OF_NAMES if role == NAME else _CLASS_OF_LITERALS

    def _is_the_languages_own(self, name: str) -> bool:
        """Whether the lexer recognises a name without context."""
        known = self._own_names.get(name)
        if known is None:
            kinds = [kind for _, kind, value in lexed(self._lexer, name) if value.strip()]
            known = len(kinds) == 1 and (_role(kinds[0]) == KEPT or str(kinds[0]) == "Token.Name.Exception")
            if len(self._own_names) < _MOST_NAMES:
                self._own_names[name] = known
        return known


def _role(kind: Any) -> int:
    """The treatment of a kind of token: the most specific entry that applies."""
    for length in range(len(kind), 0, -1):
        role = _ROLES.get(".".join(kind[:length]))
        if role is not None:
            return role
    return KEPT


def _role_in_directive(text: str) -> int:
    """The treatment of a word or a sign in a preprocessor line, which lexers do not split."""
    if text[0].isdecimal():
        return LITERAL
    return KEPT if text in _DIRECTIVES or not _NAME.match(text) else NAME


_DIRECTIVES = frozenset(
    "define defined elif else endif error if ifdef ifndef import include line once pragma undef warning".split()
)

_ROLES = {
    "Comment": DROPPED,
    "Comment.Preproc": DIRECTIVE,
    "Comment.PreprocFile": KEPT,
    "Literal": LITERAL,
    "Literal.String": STRING,
    "Literal.String.Doc": DROPPED,
    "Name": NAME,
    "Name.Builtin": KEPT,
    "Name.Builtin.Pseudo": NAME,  # self and cls of Python, which the programmer chooses
    "Name.Function.Magic": KEPT,
    "Name.Variable.Magic": KEPT,
    # Lexers use these kinds for names of the language, and some of them for any name in such a position.
    "Name.Decorator": DOUBTFUL,
    "Name.Exception": DOUBTFUL,
    "Text": PROSE,
    "Other": PROSE,
}
"""The treatment of each kind of token of Pygments; all others (keywords, operators, errors) are kept."""

_MOST_NAMES = 10_000


def lexed(lexer: Any, text: str) -> Iterator[tuple[int, Any, str]]:
    """Place, kind and characters of every token of a `readable` text; a missing final line feed is added."""
    done = 0
    try:
        for at, kind, value in lexer.get_tokens_unprocessed(text if text.endswith("\n") else f"{text}\n"):
            yield at, kind, value
            done = max(done, at + len(value))
    except Exception:
        yield done, _UNREAD, text[done:]


def readable(text: str) -> tuple[str, I64]:
    r"""The text in the form for lexers, and the place of each of its characters in the original text.

    Lines end with a line feed, a byte order mark becomes a space, and long repetitions are shortened.

    Example:
        >>> lines, places = readable("a\r\nb")
        >>> lines, places.tolist(), len(readable("\n" * 100_000)[0])
        ('a\nb', [0, 2, 3], 40)
    """
    lines, places = text, np.arange(len(text))
    if lines.startswith("\ufeff"):
        lines = f" {lines[1:]}"
    if "\r" in lines:
        places = np.delete(places, [match.start() for match in _TWO_ENDS.finditer(lines)])
        lines = lines.replace("\r\n", "\n").replace("\r", "\n")
    dropped = [match.span(match.lastindex or 0) for match in _REPEATED.finditer(lines)]
    if dropped:
        kept = np.ones(len(lines), bool)
        for start, end in dropped:
            kept[start:end] = False
        places = places[kept]
        edges = (0, *chain.from_iterable(dropped), len(lines))
        lines = "".join(lines[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True))
    return lines, places


def require(language: str) -> Any:
    """The lexer of a language.

    Raises:
        ConfigError: the library is missing, or has no such language.
    """
    try:
        from pygments.lexers import get_all_lexers, get_lexer_by_name  # type: ignore[import-untyped]  # noqa: PLC0415 - optional
    except ImportError:
        raise ConfigError('shingles: tokens of code need Pygments: pip install "stream_lsh[code]"') from None
    aliases = {alias.lower() for _, several, _, _ in get_all_lexers(plugins=False) for alias in several}
    if language not in aliases:
        raise ConfigError(
            f"shingles: got the language {language!r}, expected an alias of Pygments"
            f"{suggestion(language, sorted(aliases))}"
        )
    return get_lexer_by_name(language)


def _pygments_version() -> str:
    import pygments  # type: ignore[import-untyped]  # noqa: PLC0415 - optional

    version: str = pygments.__version__
    return version
