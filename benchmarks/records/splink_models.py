"""Records matched with Splink: each corpus with the settings of the example that Splink's documentation has of it.

There is no example of RLdata10000; its settings are those of fake_1000, for the columns that it has.

Their columns, blocking rules, comparisons and training are those of the examples of version 5; what is drawn at random
there has a seed here.  Nothing learns from labels.  Every pair that the blocking rules give is scored, none is dropped.
"""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from typing import Any, NamedTuple

import numpy as np

from benchmarks.peers import required
from stream_lsh.records.model import Record
from tests.evaluation.record_corpora import Corpus

SWAPPED = "l.given_name = r.surname and l.surname = r.given_name"
_SEED = 2


class Scored(NamedTuple):
    """Pairs of ids with their evidence in bits, and the seconds that it took to find and score them."""

    left: Sequence[str]
    right: Sequence[str]
    bits: np.ndarray
    seconds: float


@dataclass(frozen=True, slots=True)
class Model:
    """The settings of an example.

    Attributes:
        columns: the columns that it reads, with the SQL that prepares them.
        rules: that give the pairs to score; columns that must be equal, or a condition.
        comparisons: made of `splink.comparison_library`.
        certain: rules that only few pairs satisfy that do not match, and the share of matches that do.
        most: pairs to estimate coincidences from.
        sessions: columns that are held equal, one set a session, to learn from the others.
        rare: whether the sessions know of term frequencies.
    """

    columns: Mapping[str, str]
    rules: Sequence[tuple[str, ...] | str]
    comparisons: Callable[[Any], list[Any]]
    certain: tuple[Sequence[tuple[str, ...] | str], float]
    most: float
    sessions: Sequence[tuple[str, ...]]
    rare: bool = False


def scored(corpus: Corpus) -> Scored:
    """All pairs that the rules give.

    Raises:
        SystemExit: Splink is not there.
    """
    splink, library = required("splink"), required("splink.comparison_library")
    logging.getLogger("splink").setLevel(logging.CRITICAL)
    model, block = MODELS[corpus.name], splink.block_on
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        rules = [_rule(block, rule) for rule in model.rules]
        linker = _linker(splink, corpus, model, rules, model.comparisons(library))
        certain, recall = model.certain
        training = linker.training
        training.estimate_probability_two_random_records_match([_rule(block, one) for one in certain], recall=recall)
        training.estimate_u_using_random_sampling(max_pairs=model.most, seed=_SEED)
        for names in model.sessions:
            training.estimate_parameters_using_expectation_maximisation(
                block(*names), estimate_without_term_frequencies=not model.rare
            )
        start = time.perf_counter()
        pairs = linker.inference.predict()
        table = pairs.query_sql("select unique_id_l, unique_id_r, match_weight from {this}").as_dict()
        seconds = time.perf_counter() - start
    bits = np.array(table["match_weight"], np.float64)
    return Scored(table["unique_id_l"], table["unique_id_r"], bits, seconds)


def _rule(block: Any, rule: tuple[str, ...] | str) -> Any:
    return rule if isinstance(rule, str) else block(*rule)


def _linker(splink: Any, corpus: Corpus, model: Model, rules: list[Any], comparisons: list[Any]) -> Any:
    """A linker that has the records: one table of each source."""
    database = splink.DuckDBAPI()
    sources = list(dict.fromkeys(record.source for record in corpus.records))
    tables = [
        database.register(_table([record for record in corpus.records if record.source == source], model, database))
        for source in sources
    ]
    settings = splink.SettingsCreator(
        link_type="link_only" if len(tables) > 1 else "dedupe_only",
        blocking_rules_to_generate_predictions=rules,
        comparisons=comparisons,
    )
    return splink.Linker(tables if len(tables) > 1 else tables[0], settings)


def _table(records: Sequence[Record], model: Model, database: Any) -> Any:
    """Records as a table of Arrow, missing values as nulls."""
    arrow = required("pyarrow")
    names = dict.fromkeys(name for record in records[:1] for name in record.fields)
    raw = {name: [record.fields.get(name) or None for record in records] for name in names}
    made = database.duckdb_con.from_arrow(arrow.table({"unique_id": [record.id for record in records], **raw}))
    wanted = ", ".join(f"{sql} as {name}" for name, sql in model.columns.items())
    return made.project(f"unique_id, {wanted}").to_arrow_table()


# -- the examples


def _same(*names: str) -> dict[str, str]:
    return {name: name for name in names}


_FEBRL = _same(
    *("given_name", "surname", "street_number", "address_1", "suburb", "postcode", "state", "date_of_birth"),
    "soc_sec_id",
)
_FEBRL_DAY = {"input_is_string": True, "datetime_format": "%Y%m%d"}


def _fake(library: Any) -> list[Any]:
    return [
        library.ForenameSurnameComparison("first_name", "surname"),
        library.DateOfBirthComparison("dob", input_is_string=False),
        library.ExactMatch("city").configure(term_frequency_adjustments=True),
        library.EmailComparison("email"),
    ]


def _febrl3(library: Any) -> list[Any]:
    return [
        library.NameComparison("given_name"),
        library.NameComparison("surname"),
        library.DateOfBirthComparison("date_of_birth", **_FEBRL_DAY),
        library.DamerauLevenshteinAtThresholds("soc_sec_id", [2]),
        library.ExactMatch("street_number").configure(term_frequency_adjustments=True),
        library.ExactMatch("postcode").configure(term_frequency_adjustments=True),
    ]


def _febrl4(library: Any) -> list[Any]:
    return [
        library.NameComparison("given_name").configure(term_frequency_adjustments=True),
        library.NameComparison("surname").configure(term_frequency_adjustments=True),
        library.DateOfBirthComparison("date_of_birth", **_FEBRL_DAY, invalid_dates_as_null=True),
        library.DamerauLevenshteinAtThresholds("soc_sec_id", [1, 2]),
        library.ExactMatch("street_number").configure(term_frequency_adjustments=True),
        library.DamerauLevenshteinAtThresholds("postcode", [1, 2]).configure(term_frequency_adjustments=True),
    ]


def _historical(library: Any) -> list[Any]:
    return [
        library.ForenameSurnameComparison("first_name", "surname", forename_surname_concat_col_name="both_names"),
        library.DateOfBirthComparison("dob", input_is_string=True),
        library.PostcodeComparison("postcode_fake"),
        library.ExactMatch("birth_place").configure(term_frequency_adjustments=True),
        library.ExactMatch("occupation").configure(term_frequency_adjustments=True),
    ]


def _rldata(library: Any) -> list[Any]:
    return [
        library.ForenameSurnameComparison("first_name", "last_name"),
        library.DateOfBirthComparison("dob", input_is_string=False),
    ]


def _close(name: str, distance: int) -> str:
    return f"levenshtein(r.{name}::VARCHAR, l.{name}::VARCHAR) <= {distance}"


MODELS = {
    "splink_fake_1000": Model(
        {**_same("first_name", "surname", "city", "email"), "dob": "try_cast(dob as date)"},
        [("first_name",), ("surname",), ("dob",), ("email",)],
        _fake,
        (
            [
                f"l.first_name = r.first_name and {_close('dob', 1)}",
                f"l.surname = r.surname and {_close('dob', 1)}",
                f"l.first_name = r.first_name and {_close('surname', 2)}",
                "l.email = r.email",
            ],
            0.7,
        ),
        1e6,
        [("dob",), ("email",), ("first_name", "surname")],
    ),
    "rldata10000": Model(
        {**_same("first_name", "last_name"), "dob": "try_cast(dob as date)"},
        [("first_name",), ("last_name",), ("dob",)],
        _rldata,
        (
            [
                f"l.first_name = r.first_name and {_close('dob', 1)}",
                f"l.last_name = r.last_name and {_close('dob', 1)}",
                f"l.first_name = r.first_name and {_close('last_name', 2)}",
            ],
            0.7,
        ),
        1e6,
        [("dob",), ("first_name", "last_name")],
    ),
    "febrl3": Model(
        _FEBRL,
        [("soc_sec_id",), ("given_name",), ("surname",), ("date_of_birth",), ("postcode",)],
        _febrl3,
        (
            [
                ("soc_sec_id",),
                ("given_name", "surname", "date_of_birth"),
                f"{SWAPPED} and l.date_of_birth = r.date_of_birth",
            ],
            0.9,
        ),
        1e6,
        [("date_of_birth",), ("postcode",)],
        rare=True,
    ),
    "febrl4": Model(
        _FEBRL,
        [
            ("given_name", "surname"),
            SWAPPED,
            ("date_of_birth",),
            ("soc_sec_id",),
            ("state", "address_1"),
            ("street_number", "address_1"),
            ("postcode",),
        ],
        _febrl4,
        ([("soc_sec_id",), ("given_name", "surname", "date_of_birth")], 0.8),
        1e6,
        [("date_of_birth",), ("postcode",)],
    ),
    "splink_historical_50k": Model(
        {
            **_same("first_name", "surname", "dob", "birth_place", "postcode_fake", "occupation"),
            "both_names": "first_name || ' ' || surname",
        },
        [
            ("substr(first_name,1,3)", "substr(surname,1,4)"),
            ("surname", "dob"),
            ("first_name", "dob"),
            ("postcode_fake", "first_name"),
            ("postcode_fake", "surname"),
            ("dob", "birth_place"),
            ("substr(postcode_fake,1,3)", "dob"),
            ("substr(postcode_fake,1,3)", "first_name"),
            ("substr(postcode_fake,1,3)", "surname"),
            ("substr(first_name,1,2)", "substr(surname,1,2)", "substr(dob,1,4)"),
        ],
        _historical,
        (
            [
                ("first_name", "surname", "dob"),
                ("substr(first_name,1,2)", "surname", "substr(postcode_fake,1,2)"),
                ("dob", "postcode_fake"),
            ],
            0.6,
        ),
        1e7,
        [("first_name", "surname"), ("dob",)],
    ),
}
"""The examples, by the corpora that they are of."""
