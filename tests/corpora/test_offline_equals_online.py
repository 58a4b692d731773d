"""The in-memory pipeline on a changing stream finds the results of the offline algorithm on the final documents."""

import json
import random
from collections.abc import Callable, Hashable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from stream_lsh import Document
from stream_lsh.kinds.shingled.scheme import TextScheme
from stream_lsh.pipeline.local import LocalPipeline
from tests.corpora.documents import TABLES, TEXTS, sample
from tests.evaluation.clustering import components
from tests.evaluation.corpora import write_json_lines
from tests.evaluation.offline import offline
from tests.evaluation.oracles import char_windows, word_windows
from tests.streamed import UNCAPPED, Public, run
from tests.unit.cli.runs import dedup

pytestmark = pytest.mark.corpus


class Case(NamedTuple):
    """A corpus, how much of it is taken, what is a match, and how many pairs and groups there are at least."""

    corpus: str
    most: int
    threshold: float
    shingles: str
    pairs: int
    groups: int


CASES = [
    Case("newsgroups20", 900, 0.5, "word:3", 50, 50),
    Case("newsgroups20", 900, 0.8, "char:5", 20, 20),
    Case("llvm_docs_pages", 350, 0.7, "word:3", 300, 20),
    Case("llvm_docs_pages", 300, 0.9, "word:3", 50, 10),
    Case("mccormick", 500, 0.5, "word:3", 10, 10),
    Case("febrl", 700, 0.5, "char:3", 50, 50),
    Case("leipzig_dblp_acm", 500, 0.5, "char:3", 5, 5),
    Case("senzing_truthset", 500, 0.5, "char:3", 10, 10),
    Case("splink_fake_1000", 500, 0.5, "char:3", 50, 50),
    Case("splink_historical_50k", 1_200, 0.6, "char:3", 30, 30),
]
_WINDOWS: dict[str, Callable[[str, int], Sequence[Hashable]]] = {"word": word_windows, "char": char_windows}


def history(documents: Sequence[Document], rng: random.Random) -> list[Document]:
    """Documents in random order; a third had another text before, or were deleted; some are deleted in the end.

    The text before is another document's.  If it were nearly the same one, the stream might find more than a file of
    the last versions gives, see docs/internals/failures.md: a pair that was found is compared again, bands or no bands.
    """
    texts = [one.text for one in documents]
    lives: list[list[Document]] = []
    for one in documents:
        before = [
            one._replace(text=rng.choice([None, *rng.sample(texts, 2)])) for _ in range(rng.choice((0, 0, 0, 0, 1, 2)))
        ]
        lives.append([*before, one])
    for n, text in enumerate(rng.sample(texts, len(texts) // 10)):
        lives.append([Document(f"gone {n}", text), Document(f"gone {n}", None)])
    return list(in_turns(lives, rng))


def in_turns(lives: Sequence[Sequence[Document]], rng: random.Random) -> Iterator[Document]:
    """The changes of all documents, interleaved at random; those of one document stay in order."""
    turns = [at for at, life in enumerate(lives) for _ in life]
    rng.shuffle(turns)
    stories = [iter(life) for life in lives]
    return (next(stories[at]) for at in turns)


def in_small_batches(pipeline: LocalPipeline, documents: Sequence[Document], rng: random.Random) -> Public:
    public, start = Public(), 0
    while start < len(documents):
        batch = documents[start : start + rng.randint(1, 60)]
        run(pipeline, batch, len(batch), public)
        start += len(batch)
    return public


def test_every_corpus_is_there() -> None:
    assert {case.corpus for case in CASES} == {*TABLES, *TEXTS}


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.corpus} {case.threshold} {case.shingles}")
def test_the_stream_and_the_command_find_the_results_of_the_offline_algorithm(
    case: Case, data_dir: Path, tmp_path: Path, seed: int
) -> None:
    rng = random.Random(seed)
    documents = sample(data_dir, case.corpus, case.most, rng)
    kind, _, k = case.shingles.partition(":")
    scheme = TextScheme(case.threshold, case.shingles)
    texts = {one.id: one.text or "" for one in documents}
    wanted = offline(texts, scheme, case.threshold, lambda text: _WINDOWS[kind](text, int(k)))
    assert len(wanted.pairs) >= case.pairs
    assert len(wanted.groups) >= case.groups

    public = in_small_batches(LocalPipeline(scheme, case.threshold, UNCAPPED), history(documents, rng), rng)
    assert {pair: public.pairs.get(pair) for pair in wanted.pairs} == wanted.pairs
    for left, right in public.pairs.keys() - wanted.pairs.keys():
        # Older versions were candidates, and the later versions were compared again: then the pair has to be true.
        one, other = ({*_WINDOWS[kind](texts[id], int(k))} for id in (left, right))
        assert public.pairs[left, right] == len(one & other) / len(one | other) >= case.threshold
    assert public.groups == set(map(frozenset, components({*public.pairs})))

    rng.shuffle(documents)
    file = write_json_lines(documents, tmp_path / "documents.jsonl")
    settings = ("--threshold", str(case.threshold), "--shingles", case.shingles, "--max-candidates", "0")
    found = dedup(file, *settings, "--clusters", tmp_path / "clusters")
    clusters = [json.loads(line)["members"] for line in (tmp_path / "clusters").read_text().splitlines()]
    assert found.pairs == wanted.pairs
    assert set(map(frozenset, clusters)) == wanted.groups
