"""`stream-lsh demo`: `dedup` on prose that is on this machine, with copies that were edited, and how well it did."""

import json
import os
import re
import tempfile
import time
from collections.abc import Mapping, Sequence
from random import Random
from typing import NamedTuple

from stream_lsh.cli import dedup
from stream_lsh.cli.outputs import STDOUT, Output
from stream_lsh.cli.parsing import Parser, share, whole
from stream_lsh.demo.edits import EDITS
from stream_lsh.demo.prose import Prose, collect

_COPIES = 3  # one text in so many is copied
_OF_EACH_KIND = 250
_SHOWN = 12
_WIDTH = 34

Pair = tuple[str, str]


def run(arguments: Sequence[str]) -> int:
    """The command; returns its exit code."""
    parser = Parser(
        "demo",
        "Find near-duplicates in prose that every Python installation carries: help topics, licences,\n"
        "descriptions of packages, docstrings. A third of the texts get an edited copy. Takes some seconds,\n"
        "needs no network, leaves nothing behind.",
    )
    parser.add_argument("--seed", type=whole(0), default=1, metavar="N", help="which texts are copied, and how")
    parser.add_argument("--threshold", type=share, default=0.6, metavar="T", help="least similarity (default 0.6)")
    options = parser.parse(arguments)
    documents = _documents(options.seed)
    found, seconds = _dedup(documents, options.threshold)
    started = time.perf_counter()
    exact = _all_pairs({id: one.text for id, one in documents.items()}, options.threshold)
    exact_seconds = time.perf_counter() - started
    with Output(STDOUT) as out:
        out.write(line.encode("utf-8", "replace") for line in _report(documents, found))
        size = sum(len(one.text) for one in documents.values()) / 1e6
        out.write(
            line.encode()
            for line in (
                f"{len(documents)} documents, {size:.1f} million characters, threshold {options.threshold}",
                f"dedup            {len(found)} pairs in {seconds:.2f} s, all of them compared exactly",
                f"every two texts  {len(exact)} pairs in {exact_seconds:.2f} s",
                f"recall           {_recall(found, exact)}",
            )
        )
    return 0


def _documents(seed: int) -> dict[str, Prose]:
    """By id, copies included; ids sort originals before their copies."""
    random = Random(seed)  # noqa: S311 - the same demo for the same seed
    documents: dict[str, Prose] = {}
    for number, one in enumerate(collect(_OF_EACH_KIND)):
        documents[f"{number:04}"] = one
        if random.randrange(_COPIES) == 0:
            name = random.choice(list(EDITS))
            documents[f"{number:04} copy"] = Prose(f"a copy, {name}", EDITS[name](one.text, random))
    return documents


def _dedup(documents: Mapping[str, Prose], threshold: float) -> tuple[dict[Pair, float], float]:
    """The pairs that the command finds, and how long it takes."""
    with tempfile.TemporaryDirectory(prefix="stream-lsh-demo-") as folder:
        source, matches = os.path.join(folder, "prose.jsonl"), os.path.join(folder, "matches.jsonl")
        with open(source, "w", encoding="utf-8") as file:
            file.writelines(json.dumps({"id": id, "text": one.text}) + "\n" for id, one in documents.items())
        started = time.perf_counter()
        dedup.run([source, "--threshold", str(threshold), "--matches", matches, "--max-candidates", "0", "--quiet"])
        seconds = time.perf_counter() - started
        with open(matches, encoding="utf-8") as file:
            found = [json.loads(line) for line in file]
    return {(one["left"], one["right"]): one["similarity"] for one in found}, seconds


class _Sized(NamedTuple):
    """A document as the comparison of every two has it."""

    size: int
    id: str
    shingles: frozenset[tuple[str, ...]]


def _all_pairs(texts: Mapping[str, str], threshold: float) -> dict[Pair, float]:
    """Every two texts compared with Python's own sets: slow and obvious."""
    sets = []
    for id, text in texts.items():
        words = re.findall(r"\w+", text.lower())
        shingles = (
            frozenset(tuple(words[at : at + 3]) for at in range(max(1, len(words) - 2))) if words else frozenset()
        )
        sets.append(_Sized(len(shingles), id, shingles))
    sets.sort()
    exact: dict[Pair, float] = {}
    for at, small in enumerate(sets):
        for large in sets[at + 1 :]:
            if small.size < threshold * large.size:
                break  # no set that is larger still can be similar enough
            shared = len(small.shingles & large.shingles)
            union = small.size + large.size - shared
            if shared and shared / union >= threshold:
                exact[min(small.id, large.id), max(small.id, large.id)] = shared / union
    return exact


def _report(documents: Mapping[str, Prose], found: Mapping[Pair, float]) -> list[str]:
    def made(pair: Pair) -> bool:
        return pair[1] == f"{pair[0]} copy"

    copies = sorted((pair for pair in found if made(pair)), key=found.__getitem__)
    others = sorted((pair for pair in found if not any("copy" in id for id in pair)), key=found.__getitem__)
    lines = []
    for title, pairs in (("Edited copies", copies), ("Here already", others)):
        shown = _spread(pairs)
        lines.append(f"{title}: {len(pairs)} pairs, {len(shown)} of them:")
        lines.append("")
        for pair in reversed(shown):
            left, right = (documents[id].title[:_WIDTH] for id in pair)
            lines.append(f"  {found[pair]:.3f}  {left:<{_WIDTH}}  {right:<{_WIDTH}}".rstrip())
        lines.append("")
    return lines


def _spread(pairs: Sequence[Pair]) -> list[Pair]:
    """Some of them, from all parts of the list."""
    if len(pairs) <= _SHOWN:
        return list(pairs)
    return [pairs[at * (len(pairs) - 1) // (_SHOWN - 1)] for at in range(_SHOWN)]


def _recall(found: Mapping[Pair, float], exact: Mapping[Pair, float]) -> str:
    hit = sum(found.get(pair) == similarity for pair, similarity in exact.items())
    return f"{hit} of {len(exact)} ({hit / max(1, len(exact)):.1%}), {len(found.keys() - exact.keys())} wrong"
