"""The events of the demo are those of a newsroom, the same for the same seed, and edits have their declared size."""

from collections import Counter
from random import Random

import pytest

from stream_lsh.demo.edits import EDITS, correct, shorten
from stream_lsh.demo.schedule import CORRECTED, KINDS, OUTLETS, PUBLISHED, WITHDRAWN, Event, live, schedule
from stream_lsh.demo.stories import Story, stories
from tests.evaluation.oracles import jaccard, word_windows

STORIES = stories(60)


def test_the_same_seed_gives_the_same_events() -> None:
    assert schedule(STORIES, 5) == schedule(STORIES, 5) != schedule(STORIES, 6)


def test_every_document_is_published_first_and_once_and_nothing_follows_its_withdrawal() -> None:
    history: dict[str, list[str]] = {}
    for event in schedule(STORIES, 1):
        history.setdefault(event.id, []).append(event.kind)
        assert (event.text is None) == (event.kind == WITHDRAWN)
    assert {tuple(kinds) for kinds in history.values()} == {
        (PUBLISHED,),
        (PUBLISHED, CORRECTED),
        (PUBLISHED, WITHDRAWN),
    }


def test_every_outlet_and_every_kind_of_event_takes_part() -> None:
    events = schedule(STORIES, 1)
    assert {event.id.partition("/")[0] for event in events} == {outlet.lower() for outlet in OUTLETS}
    assert set(Counter(event.kind for event in events)) == set(KINDS)


def test_stories_of_one_title_are_different_documents() -> None:
    same = [Story("The same, title", f"{number} " * 300) for number in range(3)]
    slugs = {event.id.partition("/")[2] for event in schedule(same, 1)}
    assert slugs == {"the-same-title", "the-same-title~2", "the-same-title~3"}


def test_live_articles_are_the_newest_versions_of_those_not_withdrawn() -> None:
    events = [
        Event(PUBLISHED, "a", "one"),
        Event(PUBLISHED, "b", "two"),
        Event(CORRECTED, "a", "three"),
        Event(WITHDRAWN, "b", None),
    ]
    assert live(events) == {"a": "three"}


@pytest.mark.parametrize("name", EDITS)
def test_an_edited_copy_resembles_its_original(name: str, seed: int) -> None:
    random = Random(seed)
    for one in stories(5):
        assert _similarity(one.text, EDITS[name](one.text, random)) > 0.5


def test_a_correction_changes_a_text_a_little_and_a_shortened_one_is_another(seed: int) -> None:
    random = Random(seed)
    for one in stories(5):
        assert 0.6 < _similarity(one.text, correct(one.text, random)) < 1
        assert _similarity(one.text, shorten(one.text)) < 0.6


def _similarity(one: str, other: str) -> float:
    return jaccard(word_windows(one, 3), word_windows(other, 3))
