"""Source code: its tokens, and the effect of renaming, layout and comments."""

import random
import sys
from collections.abc import Iterator

import pytest

from stream_lsh.errors import ConfigError
from stream_lsh.text.catalog import shingler
from stream_lsh.text.shinglers.code import CodeShingler

PYTHON = '''\
@property
@cache.kept(maxsize=3)
def total(items: list[int], tax=0.2) -> float:
    """The cost of all items."""
    # the sum
    text = f"{items!r} of {len(items)} cost" + 'a\\tb'
    raise ValueError(__name__)
'''
RENAMED = '''\
@property
@memo.held(size=77)
def f(xs: list[int], rate=19) -> float:
    """Another
    docstring."""


    t = f"{xs!r}: {len(xs)} pieces" + "c"  # the text
    raise ValueError(__name__)
'''


def shown(made: CodeShingler, text: str) -> list[str]:
    starts, ends, _ = made.units(text)
    return [text[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]


def hashes(spec: str, text: str) -> list[int]:
    found: list[int] = shingler(spec)([text]).hashes.tolist()
    return found


def test_tokens_of_python() -> None:
    assert shown(CodeShingler("python", 1), PYTHON) == [
        *"@ property @ cache . kept ( maxsize = 3 )".split(),
        *"def total ( items : list [ int ] , tax = 0.2 ) - > float :".split(),
        *["text", "=", 'f"{', "items", "!r} of {", "len", "(", "items", ")", '} cost"', "+", "'a\\tb'"],
        *"raise ValueError ( __name__ )".split(),
    ]


def test_renaming_changes_nothing_and_the_names_of_the_language_stay() -> None:
    assert hashes("code:python:3:renamed", PYTHON) == hashes("code:python:3:renamed", RENAMED)
    assert hashes("code:python:3", PYTHON) != hashes("code:python:3", RENAMED)
    for kept, other in (
        ("property", "staticmethod"),
        ("len(", "sum("),
        ("ValueError", "KeyError"),
        ("__name__", "__file__"),
        ("def ", "class "),
        ("+", "-"),
        ("raise", "return"),
    ):
        assert hashes("code:python:1:renamed", PYTHON) != hashes(
            "code:python:1:renamed", PYTHON.replace(kept, other)
        ), kept


def test_a_decorator_is_no_mere_name_before_a_function() -> None:
    assert hashes("code:python:1:renamed", "@cached\ndef f(): pass") != hashes(
        "code:python:1:renamed", "cached\ndef f(): pass"
    )
    assert shown(CodeShingler("python", 1), "@a.b\ndef f(): pass")[:4] == ["@", "a", ".", "b"]


def test_docstrings_are_dropped_as_comments_are() -> None:
    with_it, without = 'def f():\n    """Doc."""\n    return 1\n', "def f():\n    return 1  # Doc.\n"
    assert hashes("code:python:2", with_it) == hashes("code:python:2", without)
    assert hashes("code:python:2", 'def f():\n    return "Doc."') != hashes(
        "code:python:2", 'def f():\n    return "Dog."'
    )


def test_all_numbers_are_one_class_and_all_strings_another() -> None:
    same = {tuple(hashes("code:python:2:renamed", f"x = {literal}")) for literal in ("1", "0x1F", "2.5", "1_000")}
    strings = {
        tuple(hashes("code:python:2:renamed", f"x = {literal}")) for literal in ("''", '"a\\n%s"', "r'b'", "b'c d'")
    }
    assert len(same) == len(strings) == 1
    assert same != strings


@pytest.mark.parametrize(
    ("language", "left", "right"),
    [
        (
            "c",
            "#include <a.h>\n#define MOST 9\nint f(int a) { return a + 0x10; } /* x */",
            "#include <a.h>\n#define LEAST 10\nint  g(int b)\n{ return b + 2; }",
        ),
        ("c++", 'std::string s = "a"; // x', 'abc::other t = "b";'),
        (
            "java",
            "@Override public int size() { return this.n; }",
            "@Override public int count() { return this.m; } // c",
        ),
        (
            "js",
            "const a = `x ${b} y`; if (a === null) throw new TypeError('q')",
            'const c = `z ${d} w`;\nif (c === null)\n  throw new TypeError("r")',
        ),
        ("go", 'func f(a int) string { return "x" }', 'func g(b int) string {\n\treturn "y" // y\n}'),
        ("rust", "fn f(a: u32) -> u32 { a + 1 }", "fn g(b: u32) -> u32 { b + 2 }"),
        ("sql", "SELECT a FROM t WHERE b = 'x' -- c", "SELECT d FROM u WHERE e = 'y'"),
    ],
)
def test_renaming_changes_nothing_in_other_languages(language: str, left: str, right: str) -> None:
    assert hashes(f"code:{language}:2:renamed", left) == hashes(f"code:{language}:2:renamed", right) != []
    assert hashes(f"code:{language}:2", left) != hashes(f"code:{language}:2", right)


def test_lines_end_as_they_may_and_a_byte_order_mark_is_nothing() -> None:
    text = PYTHON.replace("'a\\tb'", "'a'")
    for other in (text.replace("\n", "\r\n"), text.replace("\n", "\r"), "\ufeff" + text, text.rstrip()):
        assert hashes("code:python:3", other) == hashes("code:python:3", text)
        assert shown(CodeShingler("python", 3), other) == shown(CodeShingler("python", 3), text)


PIECES = [
    "def f(x):\n",
    '"""',
    "'",
    '"',
    "`",
    "{",
    "}",
    "/*",
    "*/",
    "#",
    "//",
    "\n",
    "\\",
    "$",
    "@a",
    "0x",
    "\ud800",
    "\0",
    "é",
    " ",
    "\r",
    "f'{",
    "<",
    "?>",
    "#include",
]


@pytest.mark.parametrize(
    "language", ["python", "c", "c++", "java", "js", "html", "php", "rust", "bash", "pycon", "json", "xml+django"]
)
@pytest.mark.parametrize("ending", ["", ":renamed"])
def test_malformed_code_has_shingles_and_raises_nothing(language: str, ending: str, seed: int) -> None:
    rng = random.Random(seed)
    made = shingler(f"code:{language}:2{ending}")
    for _ in range(40):
        text = "".join(rng.choices(PIECES, k=30))
        starts, ends, firsts = made.units(text)
        assert firsts.size == made([text]).counts[0]
        assert (starts < ends).all()
        assert ends.size == 0 or ends.max() <= len(text)
        assert made([f"x = 1 {text}"]).counts[0] >= 1


@pytest.mark.parametrize(("wrong", "suggest"), [("pyton", "python"), ("javascrpt", "javascript"), ("Python", "python")])
def test_an_unknown_language_is_refused_with_the_nearest_alias(wrong: str, suggest: str) -> None:
    with pytest.raises(ConfigError, match=f"got the language '{wrong}', .* did you mean '{suggest}'"):
        shingler(f"code:{wrong}:5")


def test_a_missing_library_is_reported_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygments.lexers", None)
    with pytest.raises(ConfigError, match=r'pip install "stream_lsh\[code\]"'):
        shingler("code:python:5")


def test_the_library_is_part_of_what_signatures_depend_on() -> None:
    import pygments  # type: ignore[import-untyped]  # noqa: PLC0415

    from stream_lsh.kinds.shingled.scheme import TextScheme  # noqa: PLC0415

    assert TextScheme(0.8, "code:python:5").settings["shingler_library"] == f"Pygments {pygments.__version__}"
    assert "shingler_library" not in TextScheme(0.8, "word:3").settings


@pytest.mark.parametrize("language", ["c", "c++", "java", "python", "scala", "js", "go"])
@pytest.mark.parametrize("run", ["\n", "\n ", " ", "(", '"\\', "a<", "a.", "\n" + " " * 8])
def test_long_repetitions_are_read_fast(language: str, run: str) -> None:
    made = shingler(f"code:{language}:2")
    before, behind = "one = 1;\n", "\ntwo = 2;\n"
    text = before + run * 100_000 + behind
    starts, ends, firsts = made.units(text)  # some of these took hours
    assert starts[0] == 0
    assert ends.max() <= len(text)
    assert firsts.size == made([text]).counts[0] < 200
    if not run.strip():
        assert hashes(f"code:{language}:2", text) == hashes(f"code:{language}:2", before + behind)
        assert text[starts[-1] :].strip() == ";"


def test_the_rest_of_a_shortened_run_keeps_its_meaning() -> None:
    quotes, signs = '"' * 48, "\\" * 48
    text = f'a = {quotes} + "{signs}" + b  # {"-" * 500}\nc = d\n'
    assert CodeShingler("python", 2).tokens(text)[-4:] == ["b", "c", "=", "d"]


class Failing:
    """A lexer that fails in the middle of a text."""

    def get_tokens_unprocessed(self, text: str) -> Iterator[tuple[int, tuple[str, ...], str]]:
        yield 0, ("Name",), text[:3]
        raise RecursionError


def test_words_are_compared_from_the_place_where_a_lexer_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    made = CodeShingler("python", 1)
    monkeypatch.setattr(made, "_lexer", Failing())
    assert made.tokens("one = two(3)") == ["one", "=", "two(3)"]
    assert made.units("one = two(3)").ends.tolist() == [3, 5, 12]
