"""The functions of a source file, the units of the search for duplicate code.

Python is parsed by Python itself.  In languages with braces, a function is a block whose opening brace follows closed
parentheses, which otherwise only blocks of control statements and initialisers do; Pygments (the extra `code`) finds
strings and comments, so that braces in them do not count.  Nested functions are part of the outer one; methods are
separate functions.
"""

import ast
import functools
import re
import warnings
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from stream_lsh.text.shinglers.code import lexed, readable, require

LANGUAGES = {
    ".py": "python", ".pyi": "python",
    ".c": "c", ".h": "c", ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".hh": "cpp", ".hpp": "cpp",
    ".java": "java", ".kt": "kotlin", ".scala": "scala", ".cs": "csharp", ".swift": "swift",
    ".js": "javascript", ".mjs": "javascript", ".cjs": "javascript", ".jsx": "javascript",
    ".ts": "typescript", ".tsx": "typescript", ".php": "php", ".go": "go", ".rs": "rust",
    ".rb": "ruby", ".pl": "perl", ".lua": "lua", ".sh": "bash", ".sql": "sql", ".r": "r", ".jl": "julia",
}  # fmt: skip
"""The language of each file suffix, as an alias of Pygments."""

BRACES = frozenset(
    {"c", "cpp", "java", "kotlin", "scala", "csharp", "swift", "javascript", "typescript", "php", "go", "rust"}
)
"""Languages whose functions are blocks in braces; a file of any other language except Python is one unit."""

_CONTROL = frozenset(
    {"if", "for", "foreach", "while", "switch", "catch", "synchronized", "using", "lock", "match", "with"}
)
_LINE_END = re.compile(r"\r\n|\r|\n")


@functools.cache
def canonical(language: str) -> str:
    """The value of LANGUAGES for any alias of a language; for a language that is not there, its first alias.

    Raises:
        ConfigError: Pygments is missing, or has no such language.

    Example:
        >>> canonical("py"), canonical("c++"), canonical("haskell")
        ('python', 'cpp', 'haskell')
    """
    aliases: list[str] = require(language).aliases
    return next((alias for alias in aliases if alias in LANGUAGES.values()), aliases[0])


class Function(NamedTuple):
    """A function, or a whole file, which has no name.

    Attributes:
        name: qualified by its classes if the parser reports them, such as `Shape.area`.
        line: the first one, decorators included; from 1.
        last_line: the last one.
        text: its lines.
    """

    name: str
    line: int
    last_line: int
    text: str


def functions_of(source: str, language: str) -> list[Function]:
    r"""The functions of a source file, in order; for a language without known functions, the whole file.

    Args:
        source: any text.
        language: a value of LANGUAGES.

    Returns:
        the whole file also if Python cannot parse it.

    Raises:
        ConfigError: Pygments is missing -> install the extra `code`.

    Example:
        >>> source = "class A:\n    @property\n    def one(self):\n        return 1\n\ndef two(): return 2\n"
        >>> [(one.name, one.line, one.last_line) for one in functions_of(source, "python")]
        [('A.one', 2, 4), ('two', 6, 6)]
        >>> functions_of("int f(int a) { if (a) { return 1; } return 2; }  int x[] = {1};", "c")[0].name
        'f'
    """
    if language == "python":
        spans = _in_python(source)
    elif language in BRACES:
        spans = list(_in_braces(source, language))
    else:
        spans = None
    if spans is None:
        return [whole_file(source)] if source.strip() else []
    lines = _LINE_END.split(source)
    return [Function(name, first, last, "\n".join(lines[first - 1 : last])) for name, first, last in spans]


def whole_file(source: str) -> Function:
    """A source file as one function; an end of line at its end begins no other line."""
    lines = _LINE_END.split(source)
    return Function("", 1, max(1, len(lines) - (not lines[-1])), source)


class _Span(NamedTuple):
    name: str
    line: int
    last_line: int


def _in_python(source: str) -> list[_Span] | None:
    """The functions of a Python source; None if it is not valid for this interpreter's version."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the compared texts, not about this package
            tree = ast.parse("\n".join(_LINE_END.split(source)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return sorted(_defined(tree.body, ""), key=lambda span: span.line)


def _defined(body: Sequence[ast.stmt], prefix: str) -> Iterator[_Span]:
    # A stack, as each `elif` is nested in the previous one, and a chain of thousands is valid.
    nodes: list[ast.AST] = [*body]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            yield _Span(f"{prefix}{node.name}", first, node.end_lineno or node.lineno)
        elif isinstance(node, ast.ClassDef):
            yield from _defined(node.body, f"{prefix}{node.name}.")
        else:  # under `if`, `try` and `match`
            inner = (ast.stmt, ast.ExceptHandler, ast.match_case)
            nodes += (child for child in ast.iter_child_nodes(node) if isinstance(child, inner))


class _Header:
    """The text before a brace, since the last end of a statement or block.

    Attributes:
        line: its first line; 0 before it begins.
        name: the word before its first parenthesis.
        closed: whether a parenthesis has been closed, and none is open.
    """

    def __init__(self) -> None:
        self.line = 0
        self.name = ""
        self.closed = False
        self._word = ""
        self._depth = 0
        self._assigned = False

    def take(self, sign: str, line: int) -> None:
        """Process the next word or sign."""
        self.line = self.line or line
        if sign == "(":
            if not self._depth and not self.name:
                self.name = self._word
            self._depth += 1
        elif sign == ")":
            self._depth = max(0, self._depth - 1)
            self.closed = not self._depth
        elif not self._depth:
            self._assigned |= sign == "=" and self.closed
            self._word = sign if sign[:1].isalpha() or sign[:1] in "_$~" else self._word

    @property
    def of_function(self) -> bool:
        """Whether the following block is that of a function."""
        return self.closed and not self._assigned and self.name not in _CONTROL and bool(self.name)


def _in_braces(source: str, language: str) -> Iterator[_Span]:
    header, depth, started = _Header(), 0, 0
    function: _Span | None = None
    for line, sign in _tokens(source, language):
        if sign == "{":
            if function is None and header.of_function:
                function, started = _Span(header.name, header.line, 0), depth
            depth += 1
            header = _Header()
        elif sign == "}":
            depth = max(0, depth - 1)
            if function is not None and depth <= started:
                yield function._replace(last_line=line)
                function = None
            header = _Header()
        elif sign == ";":
            header = _Header()
        else:
            header.take(sign, line)


_TOKEN = re.compile(r"[A-Za-z_$~][\w$]*|[^\w\s]")


def _tokens(source: str, language: str) -> Iterator[tuple[int, str]]:
    """Words and signs with their lines, without strings, comments and preprocessor lines."""
    text, places = readable(source)
    ends = np.array([match.end() for match in _LINE_END.finditer(source)], np.int64)
    lines = (np.searchsorted(ends, places, side="right") + 1).tolist()
    for at, kind, value in lexed(require(language), text):
        name = str(kind)
        if not name.startswith(("Token.Comment", "Token.Literal.String")):
            for match in _TOKEN.finditer(value):
                yield lines[at + match.start()], match[0]
