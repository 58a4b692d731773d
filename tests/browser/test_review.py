"""Decisions in a real browser: they are sent once, the next pair follows, and the latest one can be withdrawn."""

from collections.abc import Callable
from typing import Any

import pytest

from stream_lsh.web.asks import Answer, Ask, unanswered
from tests.browser.answers import FixedSource
from tests.browser.cases.reviews import explained, pair_of, record, reviews, several
from tests.browser.window import window


class ReviewSource(FixedSource):
    """Two pairs for review; decisions are in effect when the test sets `in_effect`."""

    def __init__(self) -> None:
        path = "/pipelines/people/reviews?"
        both = [record("c-17", {"name": "Bob"}), record("c-40", {"name": "Rob"})]
        super().__init__(
            {
                f"{path}limit=1": (200, reviews(pair_of("a", "b"), next="second")),
                f"{path}after=second&limit=1": (200, reviews(pair_of("c-17", "c-40"))),
                f"{path}after=&limit=1": (200, reviews(pair_of("a", "b"), next="second")),
                "/pipelines/people/pairs/a/b": explained("a", "b", for_review=True),
                **{f"/pipelines/people/documents/{one['id']}?limit=1": (200, one) for one in both},
            }
        )
        self.in_effect = False

    async def ask(self, ask: Ask) -> Answer:
        if ask.body is not None:
            decided = {name: ask.body[name] for name in ("left", "right", "decision")}
            value = {**decided, "offset": 7, "in_effect": self.in_effect}
            self.answers["/pipelines/people/decisions"] = (200 if self.in_effect else 202, value)
        return await super().ask(ask)

    @property
    def sent(self) -> list[Any]:
        """The decisions."""
        return [one.body for one in self.asked if one.body is not None]


@pytest.mark.parametrize("scripts", [True, False])
def test_a_decision_is_sent_and_withdrawn(browser: Any, serve: Callable[..., str], scripts: bool) -> None:
    source = ReviewSource()
    with window(browser, serve(source), scripts=scripts) as one:
        one.open("/p/people/review?by=ben")
        page = one.page
        page.fill("#note", "other birthday")
        page.click("button:has-text('Different')")
        page.wait_for_selector("text=a and b: different, sent, but not in effect yet")
        assert page.is_visible("section.review >> text=c-17")
        assert source.sent == [
            {"left": "a", "right": "b", "decision": "different", "by": "ben", "note": "other birthday"}
        ]
        source.answers["/pipelines/people/pairs/a/b"] = explained("a", "b", for_review=False)
        page.click("text=Check again")
        page.wait_for_selector("text=a and b: different, in effect")
        source.in_effect = True
        page.click("text=Undo")
        page.wait_for_selector("text=a and b: decision withdrawn, in effect")
        assert page.is_visible("section.review >> role=link[name='a']")
        assert source.sent[1:] == [{"left": "a", "right": "b", "decision": None, "by": "ben"}]
        assert one.messages == []


def test_keys_decide_while_the_focus_is_on_the_pair(browser: Any, serve: Callable[..., str]) -> None:
    source = ReviewSource()
    with window(browser, serve(source)) as one:
        one.open("/p/people/review")
        one.page.fill("#by", "sd")
        assert source.sent == []
        one.page.focus("section.review")
        one.page.keyboard.press("k")
        one.page.wait_for_selector("section.review >> text=c-17")
        one.page.wait_for_selector("html[data-ready]")
        one.page.keyboard.press("s")
        one.page.wait_for_selector("text=c-17 and c-40: same")
        assert [body["decision"] for body in source.sent] == ["same"]


def test_a_decision_that_the_brokers_refuse_is_not_stored(browser: Any, serve: Callable[..., str]) -> None:
    source = ReviewSource()
    address = serve(source)
    with window(browser, address) as one:
        one.open("/p/people/review")
        source.silent_since = 1_700_000_000.0
        one.page.click("button:has-text('Same')")
        one.page.wait_for_selector("text=The decision may not have been stored")
        source.silent_since = None
        one.page.click("text=Back to the pair")
        one.page.wait_for_selector("section.review >> role=link[name='a']")
        assert [body["decision"] for body in source.sent] == ["same"]  # it was sent once, and nothing calls it stored
        assert not one.page.is_visible("text=a and b: same")


class ListSource(FixedSource):
    """Three pairs in a list; the decisions on some pairs are refused."""

    def __init__(self) -> None:
        pairs = [pair_of("a", "b"), pair_of("c", "d"), pair_of("<script>", "f/..")]
        super().__init__(several(*pairs).answers)
        self.refused = set[str]()

    async def ask(self, ask: Ask) -> Answer:
        if ask.body is not None:
            if ask.body["left"] in self.refused:
                self.asked.append(ask)
                return unanswered("Connection refused")
            decided = {name: ask.body[name] for name in ("left", "right", "decision")}
            in_effect = ask.wait_s > 0
            value = {**decided, "offset": 7, "in_effect": in_effect}
            self.answers["/pipelines/people/decisions"] = (200 if in_effect else 202, value)
        return await super().ask(ask)

    @property
    def sent(self) -> list[tuple[Any, ...]]:
        """The decisions."""
        bodies = [one.body for one in self.asked if one.body is not None]
        return [(body["left"], body["right"], body["decision"], body.get("by"), body.get("note")) for body in bodies]


@pytest.mark.parametrize("scripts", [True, False])
def test_several_pairs_are_decided_at_once_and_undone_at_once(
    browser: Any, serve: Callable[..., str], scripts: bool
) -> None:
    source = ListSource()
    with window(browser, serve(source), scripts=scripts) as one:
        one.open("/p/people/reviews")
        page = one.page
        page.fill("#by", "ben")
        page.get_by_label("a and b").check()
        page.get_by_label("<script> and f/..").check()
        page.fill("#note", "checked by phone")
        page.click("button:has-text('Selected pairs: same')")
        page.wait_for_selector("text=2 pairs: same, in effect")
        row = ("same", "ben", "checked by phone")
        assert source.sent == [("a", "b", *row), ("<script>", "f/..", *row)]
        assert page.locator("table.several tbody tr").count() == 1
        page.click("text=Undo")
        page.wait_for_selector("text=2 pairs: decision withdrawn, in effect")
        assert source.sent[2:] == [("a", "b", None, "ben", None), ("<script>", "f/..", None, "ben", None)]
        assert page.locator("table.several tbody tr").count() == 3
        assert not page.is_visible("text=Undo")
        assert one.messages == []


def test_decisions_that_the_brokers_refuse_stay_in_the_list_and_the_others_can_be_undone(
    browser: Any, serve: Callable[..., str]
) -> None:
    source = ListSource()
    source.refused = {"c"}
    with window(browser, serve(source)) as one:
        one.open("/p/people/reviews")
        page = one.page
        page.click("button:has-text('Selected pairs: different')")
        page.wait_for_selector("text=No pair was selected")
        page.click("text=Select all on this page")
        page.wait_for_selector("input[type=checkbox]:checked")
        page.click("button:has-text('Selected pairs: different')")
        page.wait_for_selector("text=1 decision was not confirmed: Connection refused")
        assert page.is_visible("text=2 pairs: different, sent, but not in effect yet")
        assert page.inner_text("table.several tbody th").strip() == "c and d"
        page.click("text=Undo")
        page.wait_for_selector("text=2 pairs: decision withdrawn, in effect")
        assert [(left, decision) for left, _, decision, _, _ in source.sent] == [
            *(("a", "different"), ("c", "different"), ("<script>", "different")),
            *(("a", None), ("<script>", None)),
        ]
