"""Copies of functions of the standard library, planted in it: how many are found, and how many pairs are right."""

import ast
import difflib
import io
import keyword
import random
import sysconfig
import time
import tokenize
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from stream_lsh.applications.duplicate_code import LEAST_TOKENS, DuplicateCode, Fragment
from stream_lsh.text.functions import functions_of

ALIKE = 0.7
"""Least ratio of two functions that the oracle calls alike."""
_COPIES = 300
_NO_SOURCES = frozenset({"site-packages", "__pycache__", "test", "tests", "idle_test", "lib2to3"})


class Planted(NamedTuple):
    """Sources by path; where copies are, and of what."""

    sources: dict[str, str]
    origins: dict[tuple[str, str], tuple[str, str]]


def library(most: int | None = None, rng: random.Random | None = None) -> dict[str, str]:
    """The sources of the standard library without its tests, by their paths; or a random sample of `most`."""
    root = Path(sysconfig.get_paths()["stdlib"])
    paths = [path for path in sorted(root.rglob("*.py")) if not _NO_SOURCES & set(path.relative_to(root).parts)]
    if most is not None and rng is not None:
        paths = sorted(rng.sample(paths, min(most, len(paths))))
    return {str(path.relative_to(root)): path.read_text(encoding="utf-8", errors="replace") for path in paths}


def plant(sources: dict[str, str], rng: random.Random, edits: float, copies: int = _COPIES) -> Planted:
    """The sources and files with copies of functions of theirs, a share `edits` of whose statements is gone or new."""
    places = [
        (path, one.name, one.text)
        for path, source in sources.items()
        for one in functions_of(source, "python")
        if one.name and len(normal_tokens(one.text)) >= LEAST_TOKENS * 1.3
    ]
    # With two functions of one name in one file, the copied one would be ambiguous.
    names = [(path, name) for path, name, _ in places]
    chosen = rng.sample([one for one, name in zip(places, names, strict=True) if names.count(name) == 1], copies)
    planted, origins = dict(sources), dict[tuple[str, str], tuple[str, str]]()
    for number, (path, name, text) in enumerate(chosen):
        copy_name = f"planted_{number}"
        copy = _copied(text, copy_name, rng, edits)
        planted[f"planted/{number}.py"] = copy
        origins[f"planted/{number}.py", copy_name] = (path, name)
    return Planted(planted, origins)


def _copied(text: str, name: str, rng: random.Random, edits: float) -> str:
    """A function under another name, changed to hide its origin."""
    (function,) = _parsed(text).body
    changed = _Renamed(function).visit(function)
    changed.name = name
    for block in _blocks(changed):
        _edit(block, rng, edits)
    return ast.unparse(ast.fix_missing_locations(changed)) + "\n"


class _Renamed(ast.NodeTransformer):
    """Other names for arguments and variables, other numbers and texts for literals."""

    def __init__(self, function: ast.AST) -> None:
        own = {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
        own |= {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        self._names = {name: f"v{number}" for number, name in enumerate(sorted(own))}

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.copy_location(ast.Name(self._names.get(node.id, node.id), node.ctx), node)

    def visit_arg(self, node: ast.arg) -> ast.arg:
        return ast.copy_location(ast.arg(self._names.get(node.arg, node.arg), None, None), node)

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        if isinstance(node.value, bool) or not isinstance(node.value, int | float):
            return node
        return ast.copy_location(ast.Constant(node.value + 1), node)


def _blocks(function: ast.AST) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(function):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list) and block:
                yield block


def _edit(block: list[ast.stmt], rng: random.Random, edits: float) -> None:
    """Take statements out and put others in."""
    for at in range(len(block) - 1, -1, -1):
        if rng.random() < edits / 2 and len(block) > 1 and not _is_docstring(block[at]):
            del block[at]
        if rng.random() < edits / 2 and at:
            block.insert(at, ast.parse(f"trace({rng.randrange(100)}, 'here')").body[0])


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _parsed(text: str) -> ast.Module:
    lines = text.split("\n")
    indent = len(lines[0]) - len(lines[0].lstrip())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Lines of texts in triple quotes may begin further left: then a block around it takes the indent.
        return ast.parse("\n".join(lines)) if not indent else _under_if(text)


def _under_if(text: str) -> ast.Module:
    body = [
        one
        for statement in ast.parse(f"if True:\n{text}").body
        if isinstance(statement, ast.If)
        for one in statement.body
    ]
    return ast.Module(body, [])


def normal_tokens(text: str) -> list[str]:
    """The tokens of a function as Python's own tokeniser has them; names and literals by their class, no docstrings."""
    found: list[str] = []
    line_begins = True
    lines = text.split("\n")
    indent = len(lines[0]) - len(lines[0].lstrip())
    source = f"if True:\n{text}\n" if indent else f"{text}\n"
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type in (tokenize.COMMENT, tokenize.NL, tokenize.ENCODING, tokenize.ENDMARKER):
                continue
            if token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT):
                line_begins = True
                continue
            if token.type == tokenize.STRING and line_begins:
                continue
            line_begins = False
            if token.type == tokenize.NAME and not keyword.iskeyword(token.string):
                found.append("name")
            elif token.type in (tokenize.NUMBER, tokenize.STRING):
                found.append("literal")
            else:
                found.append(token.string)
    except (tokenize.TokenError, IndentationError):
        pass
    return found[3:] if indent else found


def alike(one: str, other: str) -> float:
    """How much of two functions is the same, 0 to 1, by difflib."""
    return difflib.SequenceMatcher(None, normal_tokens(one), normal_tokens(other), autojunk=False).ratio()


class Quality(NamedTuple):
    """The result: how many planted pairs were found, and how many of the reported pairs are right."""

    found: int
    planted: int
    right: int
    reported: int
    seconds: float


def measured(planted: Planted, code: DuplicateCode | None = None) -> Quality:
    """Find duplicates, and compare the reported pairs with the oracle."""
    code = DuplicateCode() if code is None else code
    started = time.perf_counter()
    for path, source in planted.sources.items():
        code.add(path, source)
    pairs = [(match.left, match.right) for match in code.matches()]
    seconds = time.perf_counter() - started
    reported = {frozenset((place(one), place(other))) for one, other in pairs}
    wanted = {frozenset(pair) for pair in planted.origins.items()}
    texts = _texts(planted.sources, [one for pair in pairs for one in pair])
    right = sum(
        frozenset((place(one), place(other))) in wanted or alike(texts[one], texts[other]) >= ALIKE
        for one, other in pairs
    )
    return Quality(len(wanted & reported), len(wanted), right, len(pairs), seconds)


def place(fragment: Fragment) -> tuple[str, str]:
    """A function by file and name."""
    return fragment.path, fragment.name


def _texts(sources: dict[str, str], fragments: Sequence[Fragment]) -> dict[Fragment, str]:
    lines = {path: sources[path].split("\n") for path in {one.path for one in fragments}}
    return {one: "\n".join(lines[one.path][one.line - 1 : one.last_line]) for one in fragments}
