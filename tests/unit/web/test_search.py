"""The search: forms for every kind of data, and requests for what they contain."""

import pytest

from stream_lsh.kinds.registry import KINDS
from stream_lsh.web.asks import Answer, Ask
from stream_lsh.web.pages.page import PipelineName
from stream_lsh.web.pages.search import FORMS, MOST, ask, page

NEWS, PEOPLE = PipelineName("news", "text"), PipelineName("people", "record")


def test_every_kind_of_data_has_a_form() -> None:
    assert set(FORMS) == set(KINDS)


@pytest.mark.parametrize(
    ("pipeline", "query", "body"),
    [
        (NEWS, {"value": "two\r\nlines"}, {"text": "two\nlines", "limit": 20}),
        (NEWS, {"value": "a", "limit": "5"}, {"text": "a", "limit": 5}),
        (NEWS, {"value": "a", "limit": "99999"}, {"text": "a", "limit": MOST}),
        (NEWS, {"value": "a", "limit": "-1"}, {"text": "a", "limit": 20}),
        (PEOPLE, {"value": '{"name": "Ann"}'}, {"record": {"fields": {"name": "Ann"}}, "limit": 20}),
        (PipelineName("baskets", "set"), {"value": "[1]"}, {"items": [1], "limit": 20}),
        (PipelineName("points", "vector"), {"value": "[0.5]"}, {"vector": [0.5], "limit": 20}),
    ],
)
def test_a_value_becomes_a_request(pipeline: PipelineName, query: dict[str, str], body: dict[str, object]) -> None:
    asked = ask(pipeline, query)
    assert asked is not None
    assert (asked.segments, asked.body) == (("pipelines", pipeline.name, "similar"), body)


@pytest.mark.parametrize("value", ["Bob", "[1]", "[" * 100_000])
def test_a_value_that_cannot_be_read_stays_in_the_form(value: str) -> None:
    assert ask(PEOPLE, {"value": value}) is None
    shown = page(PEOPLE, {"value": value}, None)
    assert shown.values["problem"].startswith("A record, as JSON: ")
    assert shown.values["value"] == value


def test_nothing_is_asked_for_an_empty_form_or_an_unknown_kind() -> None:
    assert ask(NEWS, {}) is None
    assert ask(NEWS, {"value": " \n"}) is None
    assert ask(PipelineName("x", "sound"), {"value": "a"}) is None
    assert page(PipelineName("x", "sound"), {}, None).values["form"] is None


def test_the_command_quotes_what_a_shell_would_read() -> None:
    asked = ask(NEWS, {"value": "it's $HOME `x`"})
    assert asked is not None
    assert asked.command("http://a:1/v1") == (
        """curl http://a:1/v1/pipelines/news/similar --json '{"text": "it'"'"'s $HOME `x`", "limit": 20}'"""
    )


def test_the_command_contains_no_token_but_names_its_variable() -> None:
    asked = Ask(("pipelines", "news", "clusters"))
    assert asked.command("http://a:1/v1", needs_token=True) == (
        'curl http://a:1/v1/pipelines/news/clusters --header "Authorization: Bearer $TOKEN"'
    )


@pytest.mark.parametrize(
    ("measure", "details"), [("fellegi-sunter", "+1.00 bits, found by email"), ("weighted", "found by email")]
)
def test_only_trained_weights_are_in_bits(measure: str, details: str) -> None:
    evidence = {"measure": measure, "score": 1.0, "weights": {"email": 1.0}, "rules": ["email"]}
    match = {"id": "c-40", "probability": 1.0, "review": False, "evidence": evidence}
    found = {"matches": [match], "compared": 1, "capped": False, "complete": True, "missing": {}, "lag": 0}
    shown = page(PEOPLE, {"value": '{"email": "ann@lee.example"}'}, Answer(200, found))
    assert [one.details for one in shown.values["matches"]] == [details]
