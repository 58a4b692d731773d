"""The events of the demo: outlets publish stories, copy them from each other, correct and withdraw them.

The order is that of a newsroom: copies of a story follow within the next stories, corrections later, withdrawals last.
The same stories and the same seed give the same events.
"""

import re
from collections.abc import Iterable, Sequence
from random import Random
from typing import NamedTuple

from stream_lsh.demo.edits import EDITS, correct, shorten
from stream_lsh.demo.stories import Story
from stream_lsh.model import NO_ABOUT, About

OUTLETS = ("Newswire", "Herald", "Courier", "Gazette", "Mirror", "Tribune")
"""The outlets; the first one publishes most stories first."""
PUBLISHED, CORRECTED, WITHDRAWN = KINDS = ("published", "corrected", "withdrawn")

_FIRST = 0.6  # of the stories are the agency's
_COPIES = (0, 1, 2, 2, 3, 5)  # how many outlets copy a story, each as likely
_CORRECTED, _SHORTENED, _WITHDRAWN = 0.08, 0.02, 0.05  # of the documents
_SOON, _LATER = 6.0, 25.0  # stories until it is copied, until it is corrected or withdrawn; on the average


class Event(NamedTuple):
    """One message of the stream.

    Attributes:
        kind: one of KINDS.
        id: of the document, `outlet/story`; a correction has that of the document before it.
        text: None where the document is withdrawn.
        about: title and outlet of the document.
    """

    kind: str
    id: str
    text: str | None
    about: About = NO_ABOUT


def schedule(stories: Sequence[Story], seed: int) -> list[Event]:
    """The events of some stories, in order."""
    random = Random(seed)  # noqa: S311 - the same demo for the same seed
    order = list(zip(_slugs(stories), stories, strict=True))
    random.shuffle(order)
    timed = [
        (number + delay, event)
        for number, (slug, story) in enumerate(order)
        for delay, event in _of(slug, story, random)
    ]
    timed.sort(key=lambda entry: entry[0])
    return [event for _, event in timed]


def live(events: Iterable[Event]) -> dict[str, str]:
    """The live documents after these events, and their texts."""
    texts: dict[str, str] = {}
    for event in events:
        if event.text is None:
            texts.pop(event.id, None)
        else:
            texts[event.id] = event.text
    return texts


def _of(slug: str, story: Story, random: Random) -> list[tuple[float, Event]]:
    """The events of one story, and how many stories after its own turn each comes."""
    first = OUTLETS[0] if random.random() < _FIRST else random.choice(OUTLETS[1:])
    others = random.sample([outlet for outlet in OUTLETS if outlet != first], random.choice(_COPIES))
    events, versions, delay = list[tuple[float, Event]](), [story.text], 0.0
    for outlet in (first, *others):
        id, text, about = f"{outlet.lower()}/{slug}", story.text, About(story.title, outlet)
        if outlet != first:
            delay += random.expovariate(1 / _SOON)
            text = random.choice(list(EDITS.values()))(random.choice(versions), random)
            versions.append(text)
        events.append((delay, Event(PUBLISHED, id, text, about)))
        chance, then = random.random(), delay + random.expovariate(1 / _LATER)
        if chance < _CORRECTED:
            events.append((then, Event(CORRECTED, id, correct(text, random), about)))
        elif chance < _CORRECTED + _SHORTENED:
            events.append((then, Event(CORRECTED, id, shorten(text), about)))
        elif chance < _CORRECTED + _SHORTENED + _WITHDRAWN:
            events.append((then, Event(WITHDRAWN, id, None)))
    return events


def _slugs(stories: Sequence[Story]) -> list[str]:
    """A name for each story that an id can hold; no two are the same."""
    taken: dict[str, int] = {}
    slugs = []
    for story in stories:
        slug = re.sub(r"[^a-z0-9.]+", "-", story.title.lower()).strip("-")
        taken[slug] = taken.get(slug, 0) + 1
        slugs.append(slug if taken[slug] == 1 else f"{slug}~{taken[slug]}")
    return slugs
