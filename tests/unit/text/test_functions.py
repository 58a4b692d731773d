"""Functions in sources: of Python by its own parser, of languages with braces by their blocks."""

import inspect
import textwrap
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.text import functions
from stream_lsh.text.functions import BRACES, LANGUAGES, functions_of


def found(source: str, language: str) -> list[tuple[str, int, int]]:
    return [(one.name, one.line, one.last_line) for one in functions_of(textwrap.dedent(source), language)]


def test_functions_and_methods_of_python_are_found_with_their_decorators() -> None:
    source = '''\
    import os

    @first
    @second(1)
    def one(a):
        def inner():
            pass
        return inner

    class A:
        x = 1
        async def two(self): ...
        class B:
            def three(self):
                """Text."""

    if os:
        def four():
            pass
    else:
        try:
            def five(): pass
        except ImportError:
            def six(): pass
        finally:
            with x:
                def seven(): pass
    '''
    assert found(source, "python") == [
        ("one", 3, 8), ("A.two", 12, 12), ("A.B.three", 14, 15), ("four", 18, 19), ("five", 22, 22), ("six", 24, 24),
        ("seven", 27, 27),
    ]  # fmt: skip


def test_the_text_of_a_function_is_its_lines() -> None:
    source = inspect.getsource(functions)
    by_name = {one.name: one.text for one in functions_of(source, "python")}
    assert by_name["functions_of"] == inspect.getsource(functions_of).rstrip("\n")
    assert by_name["_Header.take"] == inspect.getsource(functions._Header.take).rstrip("\n")


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_lines_may_end_as_they_do_anywhere(line_end: str) -> None:
    source = "x = 1\n\ndef f():\n    '''a\n    b'''\n    return 1\n".replace("\n", line_end)
    (one,) = functions_of(source, "python")
    assert (one.line, one.last_line, one.text.count("\n")) == (3, 6, 3)


def test_functions_in_cases_of_a_match_are_found() -> None:
    source = """\
    match os.name:
        case "nt":
            def one():
                pass
        case _:
            class A:
                def two(self):
                    pass
    """
    assert found(source, "python") == [("one", 3, 4), ("A.two", 7, 8)]


def test_a_long_chain_of_conditions_is_no_deep_nesting() -> None:
    chain = "".join(f"elif system == {number}:\n    pass\n" for number in range(1_500))
    assert found(f"if system is None:\n    pass\n{chain}def one():\n    pass\n", "python") == [("one", 3_003, 3_004)]


def test_unparsable_python_is_taken_as_a_whole() -> None:
    for source in ("print 'two'\n", "def f(:\n", "x = '\0'\n", "(" * 10_000):
        ((name, line, _),) = found(source, "python")
        assert (name, line) == ("", 1)


def test_sources_that_python_warns_of_are_no_noise() -> None:
    assert found("def f():\n    return '\\d' is 1\n", "python") == [("f", 1, 2)]


C = """\
#include <stdio.h>
#define TWICE(x) { x; x; }
/* { */
static int add(int a, int b)
{
    if (a) { return b; }
    for (;;) { break; }
    return '{' + "}"[0];
}
struct point { int x; };
int table[] = { 1, 2 };
int (*handler)(int) = 0;
void nothing(void) {}
"""
JAVA = """\
package a;
class Shape extends Base implements Other {
    int x = f(1);
    @Override public int area(int a) throws IOException {
        Runnable r = () -> { run(); };
        while (a > 0) { a--; }
        return a;
    }
    static { init(); }
    Shape() { super(); }
    enum Kind { ONE, TWO }
}
"""
JAVASCRIPT = """\
// function no() {}
function add(a, b) { return `${a} }`; }
const o = { a: 1 };
class A { constructor() { this.x = 1; } get area() { return { a: 1 }; } }
"""
GO = """\
package a
type T struct { x int }
func (t *T) Area(a int) (int, error) {
    switch a { case 1: return 1, nil }
    return 0, nil
}
"""
RUST = """\
impl Shape {
    fn area(&self) -> Vec<u8> where T: Copy {
        match self { A => { 1 } }
    }
}
fn main() { loop { } }
"""


@pytest.mark.parametrize(
    ("source", "language", "spans"),
    [
        (C, "c", [(4, 9), (13, 13)]),
        (JAVA, "java", [(4, 8), (10, 10)]),
        (JAVASCRIPT, "javascript", [(2, 2), (4, 4), (4, 4)]),
        (GO, "go", [(3, 6)]),
        (RUST, "rust", [(2, 4), (6, 6)]),
    ],
)
def test_functions_in_braces_are_distinguished_from_other_blocks(
    source: str, language: str, spans: list[tuple[int, int]]
) -> None:
    assert [(first, last) for _, first, last in found(source, language)] == spans


def test_functions_in_braces_have_the_name_before_their_first_parenthesis() -> None:
    assert [name for name, *_ in found(C, "c")] == ["add", "nothing"]
    assert [name for name, *_ in found(JAVA, "java")] == ["area", "Shape"]
    assert [name for name, *_ in found(JAVASCRIPT, "javascript")] == ["add", "constructor", "area"]


def test_of_other_languages_the_file_is_taken_as_a_whole() -> None:
    assert found("puts 1\nputs 2\n", "ruby") == found("puts 1\nputs 2", "ruby") == [("", 1, 2)]
    assert found("", "ruby") == found(" \n", "bash") == []


@given(st.text("(){};=ab'\"/*\n ", max_size=60), st.sampled_from(sorted(BRACES)))
def test_the_functions_of_any_source_lie_in_it_and_do_not_overlap(source: str, language: str) -> None:
    spans = [(one.line, one.last_line) for one in functions_of(source, language)]
    assert all(1 <= first <= last <= source.count("\n") + 1 for first, last in spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))


def test_pygments_has_every_language() -> None:
    assert BRACES <= set(LANGUAGES.values())
    assert all(functions_of("", language) == [] for language in set(LANGUAGES.values()))


def test_empty_lines_without_an_end_are_read_in_no_time_and_counted() -> None:
    found = functions_of("int f(int a) {\n" + "\n" * 100_000 + "return 1;\n}\r\nint g() { return 2; }", "c")
    assert [(one.name, one.line, one.last_line) for one in found] == [("f", 1, 100_003), ("g", 100_004, 100_004)]
