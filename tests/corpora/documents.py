"""Every corpus of the folder as documents: texts as they are, records as the text of their fields."""

import csv
import gzip
import io
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from stream_lsh import Document
from tests.evaluation import corpora


class Table(NamedTuple):
    """A file of records: where it is, the column of the id, and columns that would give the truth away."""

    file: str
    id: str
    without: tuple[str, ...] = ("cluster",)


TABLES = {
    "febrl": Table("febrl/dataset3.csv", "rec_id"),
    "leipzig_dblp_acm": Table("leipzig_dblp_acm/ACM.csv", "id"),
    "senzing_truthset": Table("senzing_truthset/customers.csv", "RECORD_ID"),
    "splink_fake_1000": Table("splink_fake_1000/fake_1000.csv", "unique_id"),
    "splink_historical_50k": Table("splink_historical_50k/historical_50k.csv.gz", "unique_id"),
}
TEXTS: dict[str, Callable[[Path], corpora.Corpus]] = {
    "newsgroups20": corpora.newsgroups,
    "llvm_docs_pages": corpora.llvm_pages,
    "mccormick": lambda data: corpora.mccormick(data, 1000),
}


def sample(data_dir: Path, name: str, most: int, rng: random.Random) -> list[Document]:
    """At most `most` documents of a corpus; a third of the texts are in known pairs."""
    if name in TABLES:
        records = list(_records(data_dir, TABLES[name]))
        return rng.sample(records, min(most, len(records)))
    corpus = TEXTS[name](data_dir)
    similar = {id for pair in rng.sample(sorted(corpus.exact), min(most // 6, len(corpus.exact))) for id in pair}
    others = [one for one in corpus.documents if one.id not in similar]
    chosen = similar | {one.id for one in rng.sample(others, min(most - len(similar), len(others)))}
    return [one for one in corpus.documents if one.id in chosen]


def _records(data_dir: Path, table: Table) -> Iterator[Document]:
    path = data_dir / table.file
    content = path.read_bytes()
    lines = io.StringIO((gzip.decompress(content) if path.suffix == ".gz" else content).decode("latin-1"), newline="")
    for row in csv.DictReader(lines, skipinitialspace=True):
        fields = (value for name, value in row.items() if value and name not in (table.id, *table.without))
        yield Document(row[table.id], " ".join(fields))
