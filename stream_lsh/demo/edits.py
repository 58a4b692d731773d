"""What happens to texts when they are copied: they are cut, framed, reworded, rearranged, or only laid out anew."""

import re
from collections.abc import Callable, Mapping
from random import Random

_HEADER = "Sign in | Subscribe | All sections\nAdvertisement: our newsletter brings you the best of the week.\n\n"
_FOOTER = "\n\nRead next: ten more stories like this one. All rights reserved by the copyist. Imprint, contact."
_NOTE = "\n\nCorrection: an earlier version of this article had some words wrong."
_WORDS = "one other first last small large early late open closed plain quick quiet common recent certain".split()


def cut(text: str, random: Random) -> str:
    """Without a stretch of up to a quarter."""
    length = int(len(text) * random.uniform(0.05, 0.25))
    start = random.randrange(len(text) - length)
    return text[:start] + text[start + length :]


def frame(text: str, random: Random) -> str:
    """With the header and the footer of another site."""
    return random.choice(("", _HEADER)) + text + _FOOTER


def reword(text: str, random: Random, most: float = 0.05) -> str:
    """With up to one word in twenty replaced."""
    share = random.uniform(0.005, most)
    return re.sub(r"\b[a-z]+\b", lambda word: random.choice(_WORDS) if random.random() < share else word[0], text)


def rearrange(text: str, random: Random) -> str:
    """With its paragraphs in another order."""
    paragraphs = text.split("\n\n")
    random.shuffle(paragraphs)
    return "\n\n".join(paragraphs)


def lay_out(text: str, random: Random) -> str:
    """With other line breaks, and in capitals: the words are the same."""
    words = " ".join(text.split())
    return words.upper() if random.random() < 0.5 else words


def correct(text: str, random: Random) -> str:
    """With a few words put right, and a note that says so."""
    return reword(text, random, most=0.02) + _NOTE


def shorten(text: str) -> str:
    """Its first third: too little of it is left to resemble what it was."""
    return text[: len(text) // 3]


EDITS: Mapping[str, Callable[[str, Random], str]] = {
    "cut": cut,
    "framed": frame,
    "reworded": reword,
    "rearranged": rearrange,
    "laid out anew": lay_out,
}
"""What a copy is called, and how it is made."""
