r"""Shingles of source code: runs of k tokens of a programming language, without comments and white space.

Layout and comments are the first that a copy loses, names the next, so there are two ways: names as they are, or, with
`renamed`, each name and each literal replaced by its class, so that renaming changes nothing.  The tokens are those of
Pygments, an optional library: the extra `code`.

What is a token here:

- a comment is none, and neither is a docstring: it is written for readers, as comments are, and may change while the
  code stays the same;
- a literal is one, however many parts the lexer finds in it; the names in an f-string are tokens between its parts;
- the sign of a decorator is one, and its name another;
- a line for the preprocessor is code: its words and signs are tokens;
- what the lexer does not understand is a token, character by character, so broken code has shingles too; from where
  a lexer fails on, words are;
- of what repeats itself without an end, up to four characters or white space, some 40 repetitions count: lexers are
  patterns, some of which take time that grows with the square of such a run, hours for the empty lines of a document.

With `renamed`, keywords, operators, punctuation and the names that the language itself defines stay as they are, those
for decorators too, as far as Pygments knows them.

Source: S. Schleimer, D. Wilkerson and A. Aiken, Winnowing: local algorithms for document fingerprinting, SIGMOD 2003,
for the normal form of programs; the k-grams of all tokens are taken here, where winnowing takes a sample.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from stream_lsh.arrays import I64
from stream_lsh.errors import ConfigError
from stream_lsh.spelling import nearest
from stream_lsh.text.groups import GROUP, groups
from stream_lsh.text.runs import Runs
from stream_lsh.text.shingles import FULL, Shingles, Units, join_shingles, offsets_of
from stream_lsh.text.vocabulary import Vocabulary

RENAMED = "renamed"
"""The last part of the name of shingles that renaming does not change."""

DROPPED, KEPT, NAME, DOUBTFUL, STRING, LITERAL, DIRECTIVE, PROSE = range(8)
"""What becomes of a token: nothing; it is taken as it is; as a name that the programmer chose; as a name that may be
the language's; as part of a string; as another literal; as words and signs; as words."""

_CLASS_OF_NAMES, _CLASS_OF_STRINGS, _CLASS_OF_LITERALS = "\0name", "\0string", "\0literal"
_WORDS = re.compile(r"\S+")
_WORDS_AND_SIGNS = re.compile(r"\w+|[^\w\s]")
_NAME = re.compile(r"\w+\Z")
_TWO_ENDS = re.compile(r"\r\n")
# Twelve at a time: quotes by threes and backslashes by twos go on to mean what they meant.
_REPEATED = re.compile(r"(.{1,4}?)\1{30}((?:\1{12})+)|\n\s{63}(\s+)", re.DOTALL)
_UNREAD = ("Other",)
"""The kind of what a lexer has failed on."""


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
        equal runs of tokens have equal hashes; different ones differ but for a chance of some 2^-64 a pair.  No text
        raises, be it code or not.
    Cost:
        that of Pygments: some microseconds a character.

    Raises:
        ConfigError: the library is missing or has no such language -> install the extra, or take the proposal.

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
        """What is compared of a text: its tokens, and in place of names and literals that do not count their class."""
        return [token.text for token in self._tokens(readable(text)[0])]

    def units(self, text: str) -> Units:
        """The tokens of a text."""
        lines, places = readable(text)
        spans = np.array([(token.start, token.end) for token in self._tokens(lines)], np.int64).reshape(-1, 2)
        starts, ends = np.maximum.accumulate(spans[:, 0]), np.maximum.accumulate(spans[:, 1])
        return self._runs.units(places[starts], places[ends - 1] + 1)

    def _tokens(self, text: str) -> Iterator[_Token]:
        """The tokens of a text; parts of a literal that follow each other without a gap are one."""
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
        """A literal as a token, if there is one; the white space after one that is not closed is not part of it."""
        if literal and (text := literal.text.rstrip()):
            end = literal.start + len(text)
            yield _Token(literal.start, end, _CLASS_OF_STRINGS if self.renamed else text)

    def _parts(self, role: int, at: int, value: str) -> Iterator[_Token]:
        """The tokens of anything but a string."""
        if role == DOUBTFUL:
            # A decorator comes with its sign: `@` is one token, the name another.
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
        """Whether a name is one that the lexer knows where it stands alone."""
        known = self._own_names.get(name)
        if known is None:
            kinds = [kind for _, kind, value in lexed(self._lexer, name) if value.strip()]
            known = len(kinds) == 1 and (_role(kinds[0]) == KEPT or str(kinds[0]) == "Token.Name.Exception")
            if len(self._own_names) < _MOST_NAMES:
                self._own_names[name] = known
        return known


def _role(kind: Any) -> int:
    """What becomes of the tokens of a kind: the most special entry that holds for it."""
    for length in range(len(kind), 0, -1):
        role = _ROLES.get(".".join(kind[:length]))
        if role is not None:
            return role
    return KEPT


def _role_in_directive(text: str) -> int:
    """What becomes of a word or a sign in a line for the preprocessor, which lexers leave whole."""
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
    "Name.Builtin.Pseudo": NAME,  # of Python: self and cls, which are chosen as other names are
    "Name.Function.Magic": KEPT,
    "Name.Variable.Magic": KEPT,
    # Lexers call so what the language defines, and some of them what stands at the place of such a name.
    "Name.Decorator": DOUBTFUL,
    "Name.Exception": DOUBTFUL,
    "Text": PROSE,
    "Other": PROSE,
}
"""Kind of token, as Pygments names it, to what becomes of it; all others (keywords, operators, errors) are kept."""

_MOST_NAMES = 10_000


def lexed(lexer: Any, text: str) -> Iterator[tuple[int, Any, str]]:
    """Place, kind and characters of every token of a text that is `readable`; its last line ends as the others do."""
    done = 0
    try:
        for at, kind, value in lexer.get_tokens_unprocessed(text if text.endswith("\n") else f"{text}\n"):
            yield at, kind, value
            done = max(done, at + len(value))
    except Exception:
        yield done, _UNREAD, text[done:]


def readable(text: str) -> tuple[str, I64]:
    r"""The text as lexers want it, and the place of each of its characters in the text.

    Lines end with a line feed, a byte order mark is a space, and runs that repeat themselves are shorter.

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
            f"shingles: got the language {language!r}, expected an alias of Pygments; "
            f"did you mean {nearest(language, sorted(aliases))!r}?"
        )
    return get_lexer_by_name(language)


def _pygments_version() -> str:
    import pygments  # type: ignore[import-untyped]  # noqa: PLC0415 - optional

    version: str = pygments.__version__
    return version
