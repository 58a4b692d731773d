"""Answers of about 200 words to one question, some of them copied from a source at three levels.

A question is a thread of newsgroups20: its longest posting is the source, and what other authors wrote themselves are
the original answers.  They share the vocabulary and the stock phrases of their subject with the source, but no quote.
Copies are sentences of the source: nearly unchanged (`cut`), with some words replaced (`light`), or reordered, with
most runs of words broken, shortened, and with sentences of other authors between them (`heavy`).
"""

import random
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from stream_lsh import PartialCopies
from tests.evaluation import corpora
from tests.evaluation.oracles import word_windows

LEVELS = ("cut", "light", "heavy", "none")
_SOURCE_WORDS = range(300, 1001)
TYPICAL = (120, 280)
"""Words of an answer: the fewest and the most."""
SHORT = (60, 100)
_QUOTED_WORDS = 10
"""Equal words in a row from which an answer quotes the source and is not original."""
_COPIES = 4
"""Of each level, for each question."""
_ORIGINALS = 8
_AT_ONCE = 5
"""Questions of one collection."""
_KEPT_RUNS = {"cut": (12.0, 80.0), "light": (3.5, 12.0), "heavy": (1.6, 4.5)}
"""The least and the greatest mean length of a run of words that a copy keeps."""
_OWN = {"cut": 0.1, "light": 0.15, "heavy": 0.4}
"""The greatest share of sentences of other authors."""

_QUOTE = re.compile(r"^\s*(?:[\w.\-]{0,12}\s?[>|:}]|[-=_*#+~]{3,})")
_ATTRIBUTION = re.compile(r"(writes|wrote|sa(?:id|ys))\s*[:.]*\s*$|^In article|^In <|@")
_REPLY = re.compile(r"^(re:\s*|re\[\d\]:\s*)+", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?])\s+")


class Question(NamedTuple):
    """A source, and answers that copy nothing from it."""

    source: str
    originals: list[str]


class Answer(NamedTuple):
    """An answer: the number of its question, its level of copying, and its text."""

    question: int
    level: str
    text: str


def questions(data: Path, part: int, parts: int = 2) -> list[Question]:
    """The questions of one part of the threads; the parts have no thread in common."""
    threads = sorted(_threads(data).items())
    return [question for _, texts in threads[part::parts] for question in _question(texts)]


def _threads(data: Path) -> dict[str, list[str]]:
    """The postings of each thread without quotations, by subject."""
    threads = defaultdict[str, list[str]](list)
    for posting in corpora.newsgroup_postings(data):
        text = _own_words(posting["text"])
        if len(text.split()) >= TYPICAL[0] and text not in threads[subject := _subject(posting["subject"])]:
            threads[subject].append(text)
    return threads


def _subject(header: str | None) -> str:
    return _REPLY.sub("", (header or "").strip()).strip().lower()


def _own_words(text: str) -> str:
    """A posting without quotes, attributions and signature."""
    body = re.split(r"^--+\s*$", text, maxsplit=1, flags=re.MULTILINE)[0]
    lines = [line for line in body.split("\n") if not _QUOTE.match(line) and not _ATTRIBUTION.search(line)]
    return " ".join(" ".join(lines).split())


def _question(texts: Sequence[str]) -> Iterator[Question]:
    source = max((text for text in texts if len(text.split()) in _SOURCE_WORDS), key=len, default=None)
    if source is None:
        return
    quotable = set(word_windows(source, _QUOTED_WORDS))
    others = [text for text in texts if text != source and not quotable & set(word_windows(text, _QUOTED_WORDS))]
    if len(others) >= _ORIGINALS:
        yield Question(source, others)


def answers(asked: Sequence[Question], rng: random.Random, lengths: tuple[int, int] = TYPICAL) -> list[Answer]:
    """Answers of all levels to each question."""
    found = list[Answer]()
    for number, question in enumerate(asked):
        others = rng.sample(question.originals, _ORIGINALS)
        words = rng.randint
        found += [Answer(number, "none", " ".join(text.split()[: words(*lengths)])) for text in others]
        for level in LEVELS[:-1]:
            for _ in range(_COPIES):
                own = rng.choice(question.originals)
                found.append(Answer(number, level, _copied(question.source, own, level, words(*lengths), rng)))
    return found


def _copied(source: str, own: str, level: str, words: int, rng: random.Random) -> str:
    """An answer of some `words` words: revised sentences of the source, and some of another author."""
    sentences, others = _SENTENCE.split(source), _SENTENCE.split(own)
    run = rng.uniform(*_KEPT_RUNS[level])
    own_share = rng.uniform(0, _OWN[level])
    at = rng.choice((0, rng.randrange(len(sentences))))  # many copy from the beginning
    parts, length = list[list[str]](), 0
    for sentence in [*sentences[at:], *sentences[:at]]:
        new = [_revised(sentence.split(), run, own.split(), rng)]
        if rng.random() < own_share:
            new.append(rng.choice(others).split())
        parts += new
        length += sum(map(len, new))
        if length >= words:
            break
    if level == "heavy":
        rng.shuffle(parts)
    return " ".join([word for part in parts for word in part][:words])


def _revised(words: Sequence[str], run: float, vocabulary: Sequence[str], rng: random.Random) -> list[str]:
    """Runs of words with a mean length of `run`; between them one to three words are replaced, dropped or inserted."""
    found, at = list[str](), 0
    while at < len(words):
        length = 1
        while rng.random() > 1 / run:
            length += 1
        found += words[at : at + length]
        at += length
        if at < len(words):
            dropped, inserted = rng.choice(((1, 1), (1, 1), (2, 1), (1, 2), (2, 3), (1, 0), (0, 1), (3, 2)))
            found += rng.sample(vocabulary, inserted)
            at += dropped
    return found


def reported(
    asked: Sequence[Question], given: Sequence[Answer], bounds: Mapping[str, float] = MappingProxyType({})
) -> dict[str, float]:
    """The share of each level that `PartialCopies` reports with its source, in collections of five questions."""
    hits, counts = defaultdict[str, int](int), defaultdict[str, int](int)
    for first in range(0, len(asked), _AT_ONCE):
        copies = PartialCopies(**bounds)  # type: ignore[arg-type]
        numbers = range(first, min(first + _AT_ONCE, len(asked)))
        for number in numbers:
            copies.add(f"source{number}", asked[number].source, source=True)
        answers_here = [(f"answer{place}", one) for place, one in enumerate(given) if one.question in numbers]
        for id, one in answers_here:
            copies.add(id, one.text)
        pairs = {(pair.left, pair.right) for pair in copies.find()}
        for id, one in answers_here:
            counts[one.level] += 1
            hits[one.level] += (id, f"source{one.question}") in pairs
    return {level: hits[level] / counts[level] for level in LEVELS}
