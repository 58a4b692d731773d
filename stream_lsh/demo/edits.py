"""Edits of a text that is copied: it is cut, framed, reworded, rearranged, or laid out again."""

import re
from collections.abc import Callable, Mapping
from random import Random

_HEADER = "Sign in | Subscribe | All sections\n\n"
_FOOTER = "\n\nRead next: ten more stories like this one. All rights reserved. Imprint, contact."
_NOTE = "\n\nCorrection: an earlier version of this article contained an error."
_SYNONYMS: Mapping[str, str] = {
    "announced": "stated",
    "asked": "urged",
    "because": "as",
    "before": "ahead of",
    "company": "firm",
    "cost": "come to",
    "could": "might",
    "expected": "foreseen",
    "explained": "remarked",
    "failed": "collapsed",
    "first": "initial",
    "found": "discovered",
    "half": "one half",
    "largest": "biggest",
    "long": "lengthy",
    "nearly": "almost",
    "new": "brand-new",
    "old": "former",
    "plan": "project",
    "promised": "pledged",
    "remains": "stays",
    "reported": "announced",
    "shows": "displays",
    "since": "ever since",
    "sold": "bought",
    "state": "government",
    "town": "city",
    "visited": "toured",
    "warned": "cautioned",
    "work": "job",
    "years": "long years",
}


def cut(text: str, random: Random) -> str:
    """Without a sentence or two; a text of few sentences loses a stretch of characters."""
    sentences = re.split(r"(?<=\.)(\s+)", text)
    if len(sentences) < 13:
        length = int(len(text) * random.uniform(0.05, 0.2))
        start = random.randrange(len(text) - length)
        return text[:start] + text[start + length :]
    at = 2 * random.randrange(len(sentences) // 2 - 1)
    return "".join(sentences[:at] + sentences[at + 2 * random.choice((1, 1, 2)) :])


def frame(text: str, random: Random) -> str:
    """With the header and the footer of another site."""
    return random.choice(("", _HEADER)) + text + _FOOTER


def reword(text: str, random: Random, share: float = 0.6) -> str:
    """With synonyms: of the words that have one, this share."""
    words = re.compile(rf"\b({'|'.join(_SYNONYMS)})\b")
    return words.sub(lambda word: _SYNONYMS[word[0]] if random.random() < share else word[0], text)


def rearrange(text: str, random: Random) -> str:
    """With its paragraphs in another order."""
    paragraphs = text.split("\n\n")
    random.shuffle(paragraphs)
    return "\n\n".join(paragraphs)


def lay_out(text: str, random: Random) -> str:
    """With other line breaks, and sometimes in capitals: the words are the same."""
    words = " ".join(text.split())
    return words.upper() if random.random() < 0.5 else words


def correct(text: str, random: Random) -> str:
    """With a number changed, and a note about it."""
    numbers = "three four five seven eight ten".split()
    changed = re.sub(r"\b(two|six|nine|twelve|twenty|thirty)\b", lambda _: random.choice(numbers), text, count=1)
    return changed + _NOTE


def shorten(text: str) -> str:
    """The first third, which resembles the whole too little."""
    return text[: len(text) // 3]


EDITS: Mapping[str, Callable[[str, Random], str]] = {
    "cut": cut,
    "framed": frame,
    "reworded": reword,
    "rearranged": rearrange,
    "laid out": lay_out,
}
"""The edits of a copy, by name."""
