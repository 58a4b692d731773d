"""An explanation as text, with the shared passages marked in both documents; and as JSON."""

import json
from collections.abc import Callable, Iterator
from functools import partial

from stream_lsh.cli.output.terminal import Screen
from stream_lsh.cli.output.time_format import apart, moment
from stream_lsh.cli.reports.json_line import json_line
from stream_lsh.controls import CONTROLS_IN_TEXT
from stream_lsh.kinds.comparison import Comparison
from stream_lsh.kinds.explain import Explanation, Reason, Side, explanation_value
from stream_lsh.ledger.graph.paths import Link
from stream_lsh.model import Document
from stream_lsh.text.passages.shared import Passage

_CONTEXT = 60
"""Characters that are shown on each side of a difference."""
_DIFFERENT = 300
"""Characters that are shown at each end of a passage that differs."""
_MOST_PASSAGES = 60
_MOST_STEPS = 12


def as_text(explanation: Explanation, screen: Screen, *, full: bool) -> Iterator[str]:
    """The explanation as text."""
    for side in explanation.sides:
        yield _about(side)
    yield f"{'In the same cluster' if explanation.together else 'Not in the same cluster'}: {reason_text(explanation)}."
    if explanation.waiting:
        yield f"{explanation.waiting:,} messages are under way, and may change this."
    if explanation.comparison is not None:
        yield ""
        yield from _compared(explanation.comparison, explanation.threshold)
    if explanation.path:
        yield from _path(explanation.path, full=full)
    for side, mark in zip(explanation.sides, (_taken, _added), strict=True):
        if side.document is not None and side.document.text is not None and side.shingles is not None:
            yield ""
            yield f"{_name(side.id)}:"
            yield marked(side.document.text, side.passages, partial(mark, screen), full=full).rstrip("\n")


def as_json(explanation: Explanation) -> str:
    """One line of JSON."""
    value = explanation_value(explanation)
    first = {name: value.pop(name) for name in ("together", "reason")}
    return json_line({**first, "said": reason_text(explanation), **value, "under_way": explanation.waiting})


# -- words


def reason_text(explanation: Explanation) -> str:
    """The reason as a sentence without its full stop."""
    compared, path = explanation.comparison, explanation.path
    steps, least = (0, 0.0) if not path else (len(path), min(link.similarity for link in path))
    if compared is not None and compared.identical and explanation.reason == Reason.MATCH:
        return "they have the same shingles" if compared.distance is None else "they are the same vector"
    texts: dict[Reason, Callable[[], str]] = {
        Reason.MATCH: lambda: "they match",
        Reason.CHAIN: lambda: f"{steps:,} matches connect them, the weakest with a similarity of {least:.4f}",
        Reason.PAST: lambda: "expired documents connected them",
        Reason.ABSENT: lambda: (
            f"the text is no longer stored: {_those(explanation, lambda side: side.document is None)}"
        ),
        Reason.DELETED: lambda: f"deleted: {_those(explanation, _is_deleted)}",
        Reason.EMPTY: lambda: f"no shingles, so no match: {_those(explanation, lambda side: side.shingles == 0)}",
        Reason.EXPIRED: lambda: "one of them has expired, or had when the other one came",
        Reason.GUARD: lambda: (
            f"{steps:,} {'match connects' if steps == 1 else 'matches connect'} them, "
            "but not as closely as the guards require"
        ),
        Reason.UNSETTLED: lambda: "messages are still under way: try again when the steps are idle",
        Reason.APART: lambda: f"their times are {_apart(explanation)} apart, which is more than the retention",
        Reason.SIZES: lambda: "their numbers of shingles differ by more than the size ratio allows",
        Reason.BELOW: lambda: (
            f"they are less similar than the threshold, {explanation.threshold:g}"
            if compared is None or compared.distance is None
            else f"they are farther apart than the maximum distance of a match, {compared.greatest:g}"
        ),
        Reason.NO_BAND: lambda: (
            "they have no band in common, and were never compared; a higher recall gives more bands"
        ),
        Reason.ESTIMATE: lambda: "their signatures differ so much that the texts were not compared",
        Reason.CAPPED: lambda: (
            "they have bands in common, but a cap left the pair out; max_candidates = 0 lifts the caps"
        ),
    }
    return texts[explanation.reason]()


def _those(explanation: Explanation, which: Callable[[Side], bool]) -> str:
    return " and ".join(_name(side.id) for side in explanation.sides if which(side))


def _is_deleted(side: Side) -> bool:
    return side.document is not None and side.document.text is None


def _apart(explanation: Explanation) -> str:
    left, right = (side.document.time_ms for side in explanation.sides if side.document is not None)
    return apart(left - right)


def _about(side: Side) -> str:
    facts = []
    if side.document is None:
        facts.append("no text")
    elif side.document.text is None:
        facts.append("deleted")
    else:
        if side.shingles is not None:
            facts += [f"{len(side.document.text):,} characters", f"{side.shingles:,} shingles"]
        facts.append(_time(side.document))
    facts.append("in no cluster" if side.cluster is None else f"cluster {_name(side.cluster)}")
    return f"{_name(side.id)}: {', '.join(facts)}"


def _time(document: Document) -> str:
    if not document.time_ms:
        return "no time"
    return moment(document.time_ms)


def _compared(compared: Comparison, threshold: float) -> Iterator[str]:
    if compared.distance is not None:
        yield f"distance    {compared.distance:.6g}; the maximum of a match is {compared.greatest:g}"
        yield f"signatures  {compared.matching} of {compared.slots} functions agree"
        yield (
            f"bands       {compared.met} of {compared.bands} in common; "
            f"two so near have one with a probability of {_probability(compared.probability)}"
        )
        return
    yield (
        f"similarity  {compared.similarity:.4f}: {compared.shared:,} of {compared.union:,} shingles are shared; "
        f"the threshold is {threshold:g}"
    )
    if not compared.slots:
        yield f"method      exact: two texts that reach the threshold share a bucket; these share {compared.met:,}"
        return
    yield f"estimate    {compared.estimate:.4f}: {compared.matching} of {compared.slots} slots of the signatures agree"
    yield (
        f"bands       {compared.met} of {compared.bands} in common; "
        f"two so similar have one with a probability of {_probability(compared.probability)}"
    )


def _probability(value: float) -> str:
    return f"{value:.4f}" if value < 0.9999 else "1" if value == 1 else "more than 0.9999"


def _path(path: list[Link], *, full: bool) -> Iterator[str]:
    left_out = 0 if full else len(path) - _MOST_STEPS
    for number, link in enumerate(path):
        if left_out <= 1 or number < _MOST_STEPS // 2 or number >= len(path) - _MOST_STEPS // 2:
            yield f"{'path' if not number else '':<10}  {link.similarity:.4f}  {_name(link.left)}  {_name(link.right)}"
        elif number == _MOST_STEPS // 2:
            yield f"{'':<10}  ... {left_out:,} steps more, --full shows them"


def _name(id: str) -> str:
    """An id, in quotes if it would be ambiguous."""
    plain = id.isprintable() and not any(character in ' "\\' for character in id)
    return id if plain else json.dumps(id, ensure_ascii=False).translate(CONTROLS_IN_TEXT)


# -- texts


def _taken(screen: Screen, piece: str) -> str:
    return screen.coloured(piece, "gone") if screen.colours else f"[-{piece}-]"


def _added(screen: Screen, piece: str) -> str:
    return screen.coloured(piece, "new") if screen.colours else f"{{+{piece}+}}"


def marked(text: str, passages: list[Passage], mark: Callable[[str], str], *, full: bool) -> str:
    """A text with everything that is not shared marked; shortened unless `full`."""
    shown = passages if full else passages[:_MOST_PASSAGES]
    pieces, at = list[str](), 0
    for number, (start, end, shared) in enumerate(shown):
        pieces.append(_shortened(text[at:start], _CONTEXT, _CONTEXT, full=full))
        if shared:
            ends = (_CONTEXT if number else 0, _CONTEXT if number < len(passages) - 1 else 0)
            # Where nothing differs, there is nothing to show the surroundings of.
            piece = _shortened(text[start:end], *(ends if any(ends) else (_DIFFERENT, 0)), full=full)
        else:
            piece = mark(_shortened(text[start:end], _DIFFERENT, _DIFFERENT, full=full))
        pieces.append(piece)
        at = end
    if len(shown) < len(passages):
        return "".join(pieces) + f" [... {len(text) - at:,} characters more, --full shows them]"
    return "".join([*pieces, _shortened(text[at:], _CONTEXT, _CONTEXT, full=full)])


def _shortened(text: str, head: int, tail: int, *, full: bool) -> str:
    left_out = len(text) - head - tail
    if not full and left_out > _CONTEXT:
        begin, end = text[:head], text[len(text) - tail :]
        return (
            f"{_harmless(begin)}{' ' * bool(head)}[... {left_out:,} characters ...]{' ' * bool(tail)}{_harmless(end)}"
        )
    return _harmless(text)


def _harmless(text: str) -> str:
    return text.replace("\r\n", "\n").translate(CONTROLS_IN_TEXT)
