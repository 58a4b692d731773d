"""The columns of results that are written as tables; a table needs them before its first row.

The type of a column is `str`, `int` or `float`; `[type]` is a list, `{name: type, ...}` an object with these fields,
and `{str: float}` an object with any names.  `object` is any value: a text, or JSON.
"""

from collections.abc import Iterable, Mapping
from typing import Any

Columns = Mapping[str, Any]

_TIMES: Columns = {"left_time": int, "right_time": int, "confirmed_at": int}
_PAIR: Columns = {"pipeline": str, "left": str, "right": str, "similarity": float, "measure": str}
_ANSWER: Columns = {"pipeline": str, "query": str, "id": str, "similarity": float, "measure": str}
_COUNTS: Columns = {"shared": int, "union": int}

CLUSTERS: Columns = {"cluster": str, "members": [str]}
REJECTS: Columns = {"file": str, "line": int, "reason": str, "message": str}
NEIGHBOURS: Columns = {**_PAIR, "distance": float, **_TIMES}
NEIGHBOUR_ANSWERS: Columns = {**_ANSWER, "distance": float}
ANSWERS: Columns = {**_ANSWER, **_COUNTS}
RECORD_MATCHES: Columns = {**_PAIR, "score": float, "weights": {str: float}, "rules": [str], **_TIMES}
ENTITIES: Columns = {"entity": str, "size": int, "members": [{"id": str, "source": str}], "golden": {str: object}}
STORIES: Columns = {
    "cluster": str,
    "headline": str,
    "size": int,
    "representative": str,
    "sources": [{"source": str, "first_time": int, "documents": int}],
    "source_count": int,
    "first": {"id": str, "source": str, "time": int},
    "first_time": int,
    "last_time": int,
    "members": [str],
}
MIRRORS: Columns = {
    "left": str,
    "right": str,
    "left_pages": int,
    "right_pages": int,
    "left_mirrored": int,
    "right_mirrored": int,
    "left_share": float,
    "right_share": float,
    "direction": str,
    "first_time": int,
}


def golden_records(fields: Iterable[str]) -> Columns:
    """The columns of golden records with these fields."""
    return {"entity": str, "size": int, **dict.fromkeys(fields, object)}


def matches_by(measure: str) -> Columns:
    """The columns of matches of texts and of sets; `containment` has the sizes of both."""
    sizes: Columns = {"left_shingles": int, "right_shingles": int} if measure == "containment" else {}
    return {**_PAIR, **_COUNTS, **sizes, **_TIMES}
