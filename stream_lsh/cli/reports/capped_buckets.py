"""The buckets that a cap cut most often, each with its newest document."""

from collections.abc import Callable, Iterator

from stream_lsh.index.walk import newest_refs
from stream_lsh.markup.page import table
from stream_lsh.markup.texts import line
from stream_lsh.pipeline.local import LocalPipeline

_MOST_SHOWN, _MOST_COUNTED = 5, 1_000
_EXCERPT = 160
_COLUMNS = ("rule", "#probes cut", "#documents in the bucket", "newest", "contents")


def capped_buckets(pipeline: LocalPipeline, shown: Callable[[str], str] = str) -> Iterator[str]:
    """A table of the buckets; nothing if no cap had an effect.

    Args:
        pipeline: that counted them.
        shown: makes the text that is shown from the stored one.
    """
    counted = pipeline.counts.capped_by_bucket.largest(_MOST_SHOWN)
    rows = [row for bucket, cut in counted if (row := _row(pipeline, bucket, cut, shown))]
    if rows:
        columns = dict(zip(_COLUMNS, zip(*rows, strict=True), strict=True))
        filled = {name: cells for name, cells in columns.items() if any(cells)}
        yield from table([*filled], zip(*filled.values(), strict=True), "The buckets that a cap cut most often.")


def _row(pipeline: LocalPipeline, bucket: int, cut: int, shown: Callable[[str], str]) -> tuple[str, ...]:
    """The escaped cells of one bucket; none if it is empty by now."""
    refs = newest_refs(pipeline.table.state[2], bucket, _MOST_COUNTED)
    rows = pipeline.documents.rows(refs[:1])
    if not rows.size or rows[0] < 0:
        return ()
    more = " or more" if refs.size == _MOST_COUNTED else ""
    (id,), (text, _) = pipeline.documents.ids(rows), pipeline.documents.content(int(rows[0]))
    rule = pipeline.scheme.block(bucket)
    return line(rule) if rule else "", f"{cut:,}", f"{refs.size:,}{more}", line(id), line(shown(text), _EXCERPT)
