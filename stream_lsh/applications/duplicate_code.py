"""Duplicate code in memory: functions that are equal except for layout, comments, names, and some lines.

It compares the bags of tokens of functions, since short code repeats itself; names and literals count by their class
only, unless `names` is set.  So a copy in which every name was changed has a similarity of 1.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from stream_lsh.errors import ConfigError
from stream_lsh.kinds.shingled.scheme import TextScheme
from stream_lsh.model import Document
from stream_lsh.pipeline.limits import Limits
from stream_lsh.pipeline.local import BATCH, LocalPipeline
from stream_lsh.text.functions import canonical, functions_of, whole_file
from stream_lsh.text.shinglers.code import CodeShingler

THRESHOLD = 0.6
RUN = 4
"""Tokens in a shingle."""
LEAST_TOKENS = 50
"""Shorter functions are similar without being copies: they get, set and delegate."""

_UNCAPPED = Limits(cap_postings=0, cap_candidates=0)
_SPACE = re.compile(r"\s")


class Fragment(NamedTuple):
    """A function with its location, or a whole file, which has no name.

    Attributes:
        path: of its file.
        name: with the classes that it is in.
        line, last_line: from 1.
    """

    path: str
    name: str
    line: int
    last_line: int


@dataclass(frozen=True, slots=True)
class CodeMatch:
    """Two functions and their exact similarity; `left` comes first by path and line."""

    left: Fragment
    right: Fragment
    similarity: float


class DuplicateCode:
    r"""Finds similar functions in source files.

    Args:
        threshold: least similarity of a match, above 0 and below 1: Jaccard, of runs of tokens with their counts.
        run: tokens in a shingle, 1 to 64.
        names: compare names and literals literally, so a renamed copy is not a match.
        least_tokens: functions with fewer are left out.
        whole_files: compare files, not functions.
        recall: probability that a pair at the threshold is found; more similar pairs have a greater one.
        seed: chooses the hash functions.

    Guarantees:
        every match is exact; a pair at or above the threshold is found with the probability `recall` or a greater one.
        Different languages are never compared.
    Cost:
        that of Pygments: some milliseconds a function.

    Raises:
        ConfigError: invalid settings, or no Pygments -> install the extra `code`.

    Example:
        >>> sources = DuplicateCode(least_tokens=10)
        >>> sources.add("a.py", "def total(items):\n    result = 0\n    for one in items:\n        result += one\n")
        >>> sources.add("b.py", "import os\n\ndef add_up(xs):  # of numbers\n    s = 1\n    for x in xs: s += x\n")
        >>> for match in sources.matches():
        ...     print(match.left.path, match.left.name, match.right.name, match.right.line, match.similarity)
        a.py total add_up 3 1.0
        >>> [[one.name for one in group] for group in sources.groups()]
        [['total', 'add_up']]
    """

    def __init__(
        self,
        threshold: float = THRESHOLD,
        *,
        run: int = RUN,
        names: bool = False,
        least_tokens: int = LEAST_TOKENS,
        whole_files: bool = False,
        recall: float = 0.99,
        seed: int = 1,
    ) -> None:
        if least_tokens < 1:
            raise ConfigError(f"least_tokens: got {least_tokens}, expected 1 or more")
        self._threshold = threshold
        self._names = names
        self._least_tokens = least_tokens
        self._whole_files = whole_files
        self._scheme = TextScheme(threshold, f"bag:space:{run}", recall=recall, normalise=(), seed=seed)
        self._tokens_of: dict[str, CodeShingler] = {}
        self._by_language: dict[str, list[tuple[Fragment, str]]] = {}
        self._lexer("python")  # raises for a missing library before the first source

    def add(self, path: str, source: str, language: str = "python") -> None:
        """Add a source file.

        Args:
            path: its name in results; a path that is added twice is two files.
            source: its text; a file that cannot be parsed is compared as a whole.
            language: any alias of Pygments; `text.functions.LANGUAGES` has those of files.

        Raises:
            ConfigError: no such language.
        """
        language = canonical(language)
        lexer = self._lexer(language)
        for function in [whole_file(source)] if self._whole_files else functions_of(source, language):
            tokens = lexer.tokens(function.text)
            if len(tokens) >= self._least_tokens:
                fragment = Fragment(path, function.name, function.line, function.last_line)
                text = " ".join(_SPACE.sub("\0", token) for token in tokens)
                self._by_language.setdefault(language, []).append((fragment, text))

    def __len__(self) -> int:
        """The number of functions that are long enough."""
        return sum(map(len, self._by_language.values()))

    def matches(self) -> list[CodeMatch]:
        """All pairs of similar functions, ascending by path and line."""
        return self.found()[0]

    def groups(self) -> list[list[Fragment]]:
        """The groups of functions that matches connect, the largest first; each ascending by path and line."""
        return self.found()[1]

    def found(self) -> tuple[list[CodeMatch], list[list[Fragment]]]:
        """Matches and groups, from one computation."""
        matches: list[CodeMatch] = []
        groups: list[list[Fragment]] = []
        for language in sorted(self._by_language):
            fragments = self._by_language[language]
            ledger = self._compared([text for _, text in fragments]).settler.ledger
            for pair in ledger.snapshot().pairs:
                left, right = sorted((fragments[int(pair.left)][0], fragments[int(pair.right)][0]))
                matches.append(CodeMatch(left, right, pair.similarity or 0.0))
            groups += [sorted(fragments[int(id)][0] for id in ledger.members(cluster)) for cluster in ledger.ids.live]
        matches.sort(key=lambda match: (match.left, match.right))
        groups.sort(key=lambda group: (-len(group), group))
        return matches, groups

    def _compared(self, texts: Sequence[str]) -> LocalPipeline:
        pipeline = LocalPipeline(self._scheme, self._threshold, _UNCAPPED)
        for start in range(0, len(texts), BATCH):
            pipeline.process([Document(str(start + at), text) for at, text in enumerate(texts[start : start + BATCH])])
        return pipeline

    def _lexer(self, language: str) -> CodeShingler:
        """The tokenizer of a language."""
        if language not in self._tokens_of:
            self._tokens_of[language] = CodeShingler(language, 1, renamed=not self._names)
        return self._tokens_of[language]
