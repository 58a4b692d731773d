"""Files of records of which it is known which are the same thing, each in its own form."""

import csv
import gzip
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path

from stream_lsh.records.model import Record

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Corpus:
    """Records in the order in which they arrive, and which of them are the same thing.

    Attributes:
        clean: no source has duplicates.
    """

    name: str
    records: list[Record]
    truth: set[Pair]
    clean: bool = False


def pair_of(one: str, other: str) -> Pair:
    """Two ids as one pair, whichever comes first."""
    return (one, other) if one < other else (other, one)


def rows_of(path: Path) -> list[dict[str, str]]:
    """The lines of a CSV file as dicts."""
    content = path.read_bytes()
    content = gzip.decompress(content) if path.suffix == ".gz" else content
    try:
        text = content.decode()
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    return list(csv.DictReader(io.StringIO(text, newline=""), skipinitialspace=True))


def febrl(data: Path, number: int) -> Corpus:
    """One of the FEBRL sets; the fourth has two sources."""
    names = [f"dataset{number}"] if number < 4 else ["dataset4a", "dataset4b"]
    records = [
        Record(row.pop("rec_id"), row, name) for name in names for row in rows_of(data / "febrl" / f"{name}.csv")
    ]
    truth = {pair_of(row["id_l"], row["id_r"]) for row in rows_of(data / "febrl" / f"truth_febrl{number}.csv")}
    return Corpus(f"febrl{number}", records, truth)


def labelled(data: Path, name: str, file: str) -> Corpus:
    """A file whose column `cluster` labels the records of one entity."""
    rows = rows_of(data / name / file)
    labels = [row.pop("cluster") for row in rows]
    records = [Record(row.pop("unique_id"), row) for row in rows]
    return Corpus(name, records, set(_same([record.id for record in records], labels)))


def dblp_acm(data: Path) -> Corpus:
    """Two bibliographies, each without duplicates."""
    folder = data / "leipzig_dblp_acm"
    records = [
        Record(f"{name} {row.pop('id')}", row, name)
        for name in ("DBLP2", "ACM")
        for row in rows_of(folder / f"{name}.csv")
    ]
    mapping = rows_of(folder / "DBLP-ACM_perfectMapping.csv")
    truth = {pair_of(f"DBLP2 {row['idDBLP']}", f"ACM {row['idACM']}") for row in mapping}
    return Corpus("leipzig_dblp_acm", records, truth, clean=True)


def abt_buy(data: Path) -> Corpus:
    """Two shops, each without duplicates."""
    folder = data / "leipzig_abt_buy"
    records = [
        Record(f"{name}/{row.pop('id')}", row, name)
        for name in ("abt", "buy")
        for row in rows_of(folder / f"{name}.csv")
    ]
    return Corpus("leipzig_abt_buy", records, _listed(folder / "truth.csv"), clean=True)


def one_file(data: Path, name: str, file: str, id: str) -> Corpus:
    """A file beside the list of its pairs."""
    records = [Record(row.pop(id), row) for row in rows_of(data / name / file)]
    return Corpus(name, records, _listed(data / name / "truth.csv"))


def _listed(path: Path) -> set[Pair]:
    return {pair_of(row["left"], row["right"]) for row in rows_of(path)}


def senzing(data: Path) -> Corpus:
    """Customers, a reference list and a watch list, people and organisations."""
    folder = data / "senzing_truthset"
    records = []
    for name in ("customers", "reference", "watchlist"):
        for row in rows_of(folder / f"{name}.csv"):
            source = row.pop("DATA_SOURCE")
            records.append(Record(f"{source} {row.pop('RECORD_ID')}", row, source))
    keys = {
        f"{row['DATA_SOURCE']} {row['RECORD_ID']}": row["CLUSTER_ID"]
        for row in rows_of(folder / "actual_truthset_key.csv")
    }
    ids = [record.id for record in records]
    return Corpus("senzing_truthset", records, set(_same(ids, [keys[id] for id in ids])))


def _same(ids: Sequence[str], labels: Sequence[str]) -> Iterator[Pair]:
    groups: dict[str, list[str]] = {}
    for id, label in zip(ids, labels, strict=True):
        groups.setdefault(label, []).append(id)
    for group in groups.values():
        yield from (pair_of(*pair) for pair in combinations(group, 2))


CORPORA: dict[str, tuple[Callable[[Path], Corpus], str]] = {
    **{f"febrl{number}": (partial(febrl, number=number), "people") for number in (1, 2, 3, 4)},
    "splink_fake_1000": (lambda data: labelled(data, "splink_fake_1000", "fake_1000.csv"), "people"),
    "splink_historical_50k": (lambda data: labelled(data, "splink_historical_50k", "historical_50k.csv.gz"), "people"),
    "leipzig_dblp_acm": (dblp_acm, "bibliography"),
    "leipzig_abt_buy": (abt_buy, "products"),
    "rldata10000": (partial(one_file, name="rldata10000", file="renamed.csv", id="rec_id"), "people"),
    "cora": (partial(one_file, name="cora", file="cora.csv", id="id"), "bibliography"),
    "senzing_truthset": (senzing, "tests/evaluation/parties.toml"),
}
"""Corpora by name: how they are read, and the profile that they are matched under."""
