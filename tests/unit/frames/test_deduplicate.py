"""`deduplicate`, compared with the classes of the library and with what pandas and polars select themselves."""

from collections.abc import Callable
from importlib import import_module
from random import Random
from typing import Any

import pytest

from stream_lsh import ConfigError, NearDuplicates, deduplicate, link

pandas: Any = import_module("pandas")
polars: Any = import_module("polars")
arrow: Any = import_module("pyarrow")

SETTINGS: dict[str, Any] = {"threshold": 0.5, "method": "exact"}
LIBRARIES = {
    "pandas": pandas.DataFrame,
    "polars": polars.DataFrame,
    "arrow": arrow.table,
    "pandas of arrow": lambda columns: pandas.DataFrame(columns).convert_dtypes(dtype_backend="pyarrow"),
}


def columns_of(seed: int, count: int = 80) -> dict[str, list[Any]]:
    """Texts with copies, of which some are missing, and scores, of which some are missing."""
    random = Random(seed)
    words = [f"word{number}" for number in range(200)]
    texts = [" ".join(random.choices(words, k=random.randint(4, 20))) for _ in range(count // 4)]
    found = [random.choice(texts) + random.choice(["", "", " more", " é"]) for _ in range(count)]
    return {
        "text": [None if random.random() < 0.1 else text for text in found],
        "score": [None if random.random() < 0.2 else random.randint(0, 4) / 2 for _ in range(count)],
        "row": [*range(count)],
        "note": [random.choice([None, "x"]) for _ in range(count)],
    }


def first_rows(texts: list[str | None]) -> list[int]:
    """The first row in the cluster of each row, from texts that were added one by one."""
    near = NearDuplicates(**SETTINGS)
    for row, text in enumerate(texts):
        if text is not None:
            near.add(f"{row:04d}", text)
    found = []
    for row in range(len(texts)):
        cluster = near.cluster_of(f"{row:04d}")
        found.append(row if cluster is None else int(min(cluster.members)))
    return found


def kept(columns: dict[str, list[Any]], keep: str) -> list[int]:
    """The rows that pandas selects from the clusters."""
    frame = pandas.DataFrame({"row": columns["row"], "cluster": first_rows(columns["text"])})
    frame["rank"] = {
        "first": [-row for row in columns["row"]],
        "last": columns["row"],
        "longest": [len(text or "") for text in columns["text"]],
        "shortest": [-len(text or "") for text in columns["text"]],
        "column:score": [-1 if score is None else score for score in columns["score"]],
    }[keep]
    best = frame.sort_values(["rank", "row"], ascending=[False, True]).drop_duplicates("cluster")
    return sorted(best["row"].tolist())


def rows_of(frame: Any, name: str) -> list[Any]:
    return list(frame[name].to_pylist() if isinstance(frame, arrow.Table) else frame[name].to_list())


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("keep", ["first", "last", "longest", "shortest", "column:score"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_each_cluster_keeps_one_row_and_the_type_of_the_frame_is_that_of_the_input(
    library: str, keep: str, seed: int
) -> None:
    columns = columns_of(seed)
    frame = LIBRARIES[library](columns)
    found = deduplicate(frame, keep=keep, cluster="first", **SETTINGS)
    assert type(found) is type(frame)
    expected = kept(columns, keep)
    assert rows_of(found, "row") == expected
    assert len(expected) < len(columns["row"])
    clusters = first_rows(columns["text"])
    assert rows_of(found, "first") == [clusters[row] for row in expected]
    selected = frame.take(expected) if library != "polars" else frame[expected]
    without = (
        found.drop_columns(["first"])
        if library == "arrow"
        else found.drop(columns=["first"])
        if (library.startswith("pandas"))
        else found.drop("first")
    )
    assert without.equals(selected), "all other columns and their types"


@pytest.mark.parametrize("keep", ["first", "longest", "column:score"])
def test_dicts_give_the_rows_that_frames_give(keep: str) -> None:
    columns = columns_of(4)
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    expected = polars.DataFrame(rows, infer_schema_length=None)
    found = deduplicate(iter(rows), keep=keep, **SETTINGS)
    assert found == deduplicate(expected, keep=keep, **SETTINGS).to_dicts()
    assert all(any(one is row for row in rows) for one in found), "the same objects"


def test_all_rows_get_their_cluster_and_the_input_is_unchanged() -> None:
    columns = columns_of(5)
    frame = pandas.DataFrame(columns, index=[7] * len(columns["row"]))
    before = frame.copy()
    found = deduplicate(frame, keep=None, cluster="cluster", **SETTINGS)
    assert found["cluster"].tolist() == first_rows(columns["text"])
    assert found.drop(columns=["cluster"]).equals(before)
    assert frame.equals(before)


@pytest.mark.parametrize("missing", [None, float("nan"), pandas.NA, pandas.NaT])
def test_missing_texts_and_numbers_are_missing_whatever_their_form(missing: Any) -> None:
    texts = ["to be or not to be", missing, "to be or not to be", missing, ""]
    frame = pandas.DataFrame({"text": pandas.Series(texts, dtype=object), "n": [missing, 1, 0, 5, 5]}, dtype=object)
    assert deduplicate(frame).index.tolist() == [0, 1, 3, 4]
    assert deduplicate(frame, keep="column:n").index.tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_table_without_rows_stays_one(library: str) -> None:
    frame = LIBRARIES[library]({"text": ["a b c"], "n": [1]})[:0]
    found = deduplicate(frame, keep="column:n", cluster="c")
    assert (len(found), type(found)) == (0, type(frame))
    assert deduplicate([], keep="column:n", cluster="c") == []


ROWS = {"text": ["a b c", "d e f"], "n": [1, 2], "tags": [["x"], []]}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"text": "body"}, "text: got the column 'body', expected one of 'text', 'n', 'tags'"),
        ({"keep": "column:score"}, "keep: got the column 'score', expected one of 'text', 'n', 'tags'"),
        ({"keep": "column:text"}, "keep: got 'a b c' in row 0 of 'text', expected a number"),
        ({"keep": "best"}, "keep: got 'best', expected first, last, longest, shortest, column:NAME or None"),
        ({"cluster": "n"}, "the table already has a column 'n'"),
        ({"text": "n"}, "text: got int in row 0 of 'n', expected strings"),
        ({"threshold": 2}, "threshold"),
    ],
)
@pytest.mark.parametrize("library", [*LIBRARIES, "dicts"])
def test_wrong_arguments_are_named(library: str, arguments: dict[str, Any], words: str) -> None:
    frame = polars.DataFrame(ROWS).to_dicts() if library == "dicts" else LIBRARIES[library](ROWS)
    with pytest.raises(ConfigError) as error:
        deduplicate(frame, **arguments)
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("text", "got str, expected an in-memory frame"),
        ({"text": ["a"]}, "got dict, expected an in-memory frame"),
        (5, "got int, expected an in-memory frame"),
        (["a", "b"], "got a row of type str, expected dicts"),
        ([{}, {}], "got rows without any column"),
        ([{"text": "a"}, None], "got a row of type NoneType, expected dicts"),
        (polars.DataFrame(ROWS).lazy(), "got LazyFrame, expected an in-memory frame"),
        (pandas.DataFrame([["a", "b"]], columns=["text", "text"]), "two columns of the same name"),
        (arrow.table([[1], [2]], names=["text", "text"]), "two columns of the same name"),
    ],
)
def test_other_types_are_rejected(data: Any, words: str) -> None:
    uses: list[Callable[[], Any]] = [lambda: deduplicate(data), lambda: link(data, "people")]
    for use in uses:
        with pytest.raises(ConfigError) as error:
            use()
        assert words in str(error.value)
