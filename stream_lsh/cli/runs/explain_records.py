"""`stream-lsh explain` of records: why two of them match, or do not, with the frequencies of the others.

Of files with `--profile`, which learns from them first where it has learned nothing; or of a live pipeline.
"""

import json
from argparse import Namespace
from collections.abc import Callable, Mapping
from contextlib import closing

from stream_lsh.cli.input.batches import SHOWN
from stream_lsh.cli.input.record_reader import RecordReader
from stream_lsh.cli.output.atomic_files import Output, report_lines
from stream_lsh.cli.output.terminal import Screen
from stream_lsh.cli.reports.waterfall import Pair, as_json, as_text
from stream_lsh.cli.runs.explain_evidence import require
from stream_lsh.cli.runs.learn import learned_here
from stream_lsh.kinds.record.files import find_record_inputs
from stream_lsh.kinds.record.in_memory import training_on
from stream_lsh.kinds.record.profiles import find_profile
from stream_lsh.model import Document
from stream_lsh.records.block.blocker import blocker_of
from stream_lsh.records.explained import explain_pair
from stream_lsh.records.model import Record, Values, values_of
from stream_lsh.records.profile import Profile
from stream_lsh.records.reading import Reader
from stream_lsh.records.score import Scorer


def run_records(options: Namespace) -> int:
    """The command over records of files; returns its exit code."""
    profile = find_profile(options.profile)
    return _run(options, lambda: _explained(options, profile))


def run_live(options: Namespace, profile: Profile, documents: Mapping[str, Document]) -> int:
    """The command over the live records of a pipeline; returns its exit code.

    Args:
        options: of the command.
        profile: of the pipeline.
        documents: all that are live, by id.
    """
    return _run(options, lambda: _explained_live(options, profile, documents))


def _run(options: Namespace, explained: Callable[[], Pair]) -> int:
    picture = None if options.picture is None else Output(options.picture)
    try:
        pair = explained()
        if picture is not None:
            from stream_lsh.cli.reports.waterfall_svg import as_svg  # noqa: PLC0415

            picture.write([as_svg(pair).encode().rstrip(b"\n")])
            picture.finish()
    finally:
        if picture is not None:
            picture.close()
    with closing(Screen(options.output)) as screen:
        for line in [as_json(pair)] if options.json else as_text(pair, screen, full=options.full):
            screen.line(line)
        screen.finish()
    return 0


def _explained(options: Namespace, profile: Profile) -> Pair:
    reader, records = Reader(profile), _records(options, profile)
    ids = options.one, options.other
    require(ids, records, records, _form_of_ids(records), what="record")
    profile = learned_here(profile, len(records), lambda: training_on(profile, [*records.values()]))
    left, right = (records[id] for id in ids)
    values = {id: reader.values(record) for id, record in records.items()}
    return _compared(
        ids, profile, values, (reader.raw_values(left), reader.raw_values(right)), (left.source, right.source)
    )


def _form_of_ids(records: Mapping[str, Record]) -> str:
    """A hint at the form of the ids, if records have sources."""
    return "; the id of a record with a source is SOURCE/ID" if any(one.source for one in records.values()) else ""


def _explained_live(options: Namespace, profile: Profile, documents: Mapping[str, Document]) -> Pair:
    ids = options.one, options.other
    require(ids, documents, documents, what="record")
    left, right = (documents[id].about for id in ids)
    values = {id: values_of(document.text or "", len(profile.fields)) for id, document in documents.items()}
    raw_values = json.loads(left.title), json.loads(right.title)
    return _compared(ids, profile, values, raw_values, (left.source, right.source))


def _compared(
    ids: tuple[str, str],
    profile: Profile,
    values: Mapping[str, Values],
    raw_values: tuple[Mapping[str, object], Mapping[str, object]],
    sources: tuple[str, str],
) -> Pair:
    """Two records compared, weighed by the frequencies of the values of all records."""
    left, right = ids
    scorer = Scorer(profile)
    scorer.count(values.values())
    blocker = blocker_of(profile)
    evidence = explain_pair(
        (values[left], values[right]), profile, scorer, raw_values=raw_values, sources=sources, blocker=blocker
    )
    return Pair(ids, evidence)


def _records(options: Namespace, profile: Profile) -> dict[str, Record]:
    """The records of the files by their ids, in the order of `link`, so that it learns the same.

    Rejects are reported, since one may be a requested record.
    """
    record_reader = RecordReader(find_record_inputs(options.file, options.format, options.delimiter), options, profile)
    records = record_reader.by_id()
    if record_reader.reasons.total() > SHOWN:
        report_lines([f"{record_reader.reasons.total():,} rejected"])
    return dict(sorted(records.items(), key=lambda entry: (entry[1].time_ms, entry[0])))
