"""The run of `link`: reads records, and writes matches, reviews and entities."""

import csv
import io
import json
from argparse import Namespace
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from msgspec.json import encode

from stream_lsh.cli.input.record_reader import RecordReader
from stream_lsh.cli.output.atomic_files import Output, report_lines
from stream_lsh.cli.output.caps import caps_lines
from stream_lsh.cli.output.formats import format_of
from stream_lsh.cli.output.progress import Progress
from stream_lsh.cli.reports.columns import unmatched_columns
from stream_lsh.cli.runs.dedup import guards_of
from stream_lsh.cli.runs.entity_tables import EntityTables, GoldenRows
from stream_lsh.cli.runs.input_rows import InputRows
from stream_lsh.cli.runs.learn import check_comparable, learned_here
from stream_lsh.errors import ConfigError
from stream_lsh.files.discover import Input
from stream_lsh.files.whole_rows import RowSource
from stream_lsh.kinds.record.in_memory import RecordLinker, training_on
from stream_lsh.kinds.record.profiles import find_profile
from stream_lsh.kinds.record.results import PairWriter
from stream_lsh.kinds.record.rows import DELETED, TIME, deleted
from stream_lsh.records.block.blocker import blocker_of
from stream_lsh.records.model import Entity, Record, RecordMatch
from stream_lsh.records.profile import Profile
from stream_lsh.records.reading import Reader
from stream_lsh.settings.units import counted
from stream_lsh.wire.field_names import DEFAULT_NAMES

if TYPE_CHECKING:
    from stream_lsh.cli.reports.link_html import LinkReport
    from stream_lsh.records.train.learning import Training

PIPELINE = "link"
"""The value of `pipeline` in a match line."""

_AT_ONCE = 1_000
_MOST_RULES = 5


def profile_of(options: Namespace) -> Profile:
    """The profile that the options name, with the thresholds and the type of link of the options.

    Raises:
        ConfigError: the profile does not exist, or the thresholds contradict each other.
    """
    profile = find_profile(options.profile)
    if options.link_type is not None:
        # Sources that may have duplicates are not linked one to one.
        profile = replace(
            profile, link=options.link_type, one_to_one=profile.one_to_one and options.link_type != "dedupe"
        )
    match = profile.match if options.threshold is None else options.threshold
    review = profile.review if options.review_threshold is None else options.review_threshold
    if review > match:
        if options.threshold is None:
            problem = f"--review-threshold: got {review:g}, expected at most the threshold, {match:g}; --threshold"
        else:
            problem = f"--threshold: got {match:g}, expected at least that of reviews, {review:g}; --review-threshold"
        raise ConfigError(f"{problem} sets it")
    return replace(profile, match=match, review=review)


class Known(NamedTuple):
    """The values of a record in the outputs, beside its id."""

    source: str
    time_ms: int


class LinkRun:
    """One run: from records to matches, entities and the summary.

    Args:
        options: those of the command.
        profile: of the records.
        inputs: the files.
        outputs: the files of the results, by the names of their options.

    Attributes:
        record_reader: reads the records.
    """

    def __init__(
        self, options: Namespace, profile: Profile, inputs: Sequence[Input], outputs: Mapping[str, Output]
    ) -> None:
        self._options, self._profile, self._inputs, self._outputs = options, profile, inputs, outputs
        self.record_reader = RecordReader(inputs, options, profile, outputs.get("rejects"))
        self._tables = self._tables_of(inputs, options) if {"kept", "assign"} & outputs.keys() else None
        self._reader, self._values = Reader(profile), False
        self._guards = guards_of(options, profile.match)
        self._linker = self._linker_of(profile)
        self._progress = self.record_reader.progress
        self._known: dict[str, Known] = {}
        self._columns: dict[str, None] = {}
        self._written: Counter[str] = Counter()
        self._deletes = 0
        self._training: Training | None = None

    def _tables_of(self, inputs: Sequence[Input], options: Namespace) -> EntityTables:
        source = RowSource(inputs, DEFAULT_NAMES, options.max_bytes, encoding=options.encoding, skip_space=True)
        rows = self.record_reader.rows = InputRows(source)
        golden = GoldenRows(self._profile, self.record_reader.names)
        return EntityTables(options.keep or "", rows, golden, self._outputs.get("kept"), self._outputs.get("assign"))

    def close(self) -> None:
        """Remove the progress bar."""
        self._progress.clear()

    def run(self) -> None:
        """Everything but the writing.

        Raises:
            ConfigError: no two records can be compared, since their columns or sources have other names.
        """
        records = self._read()
        self._check()
        quiet = self._options.quiet
        if not self._profile.learned and len(records) > 1:
            self._learn(records)
        elif self._profile.learned and not quiet:
            report_lines([f"warning: profile {self._profile.name!r}: {doubt}" for doubt in self._profile.doubts])
        self._progress.clear()
        self._progress = Progress(len(records), shown=not quiet, what="records matched")
        self._linker.count_first(records)
        for start in range(0, len(records), _AT_ONCE):
            self._linker.add_many(records[start : start + _AT_ONCE])
            self._progress.update(start + _AT_ONCE, min(start + _AT_ONCE, len(records)))
        self._progress.clear()

    def _check(self) -> None:
        sources = {record.source for record in self._known.values()}
        check_comparable(self._profile, self._inputs, len(self._known), sources, values=self._values)

    def _linker_of(self, profile: Profile) -> RecordLinker:
        return RecordLinker(profile, max_candidates=self._options.max_candidates, guards=self._guards)

    def _read(self) -> list[Record]:
        """All records, ascending by time and id, so that the order of rows has no effect."""
        held: dict[str, Record] = {}
        for batch in self.record_reader:
            for record in batch:
                if not deleted(record):
                    held[record.id] = record
                    self._note(record)
                elif held.pop(record.id, None):
                    self._deletes += 1
        return sorted(held.values(), key=lambda record: (record.time_ms, record.id))

    def _learn(self, records: Sequence[Record]) -> None:
        """Estimate missing weights from all records."""
        self._progress.say(f"learning from {len(records):,} records ...")

        def learn() -> "Training":
            self._training = training_on(self._profile, records)
            return self._training

        learned = learned_here(self._profile, len(records), learn, quiet=self._options.quiet)
        if self._options.threshold is not None:
            learned = replace(learned, match=self._profile.match)
        self._linker = self._linker_of(learned)

    def _note(self, record: Record) -> None:
        self._known[record.id] = Known(record.source, record.time_ms)
        self._values = self._values or any(self._reader.values(record))
        if not record.fields.keys() <= self._columns.keys():
            self._columns |= dict.fromkeys(record.fields)

    # -- writing

    def write(self) -> None:
        """Write the results, one kind after the other: there may be many more pairs than records."""
        linker, outputs = self._linker, self._outputs
        writer = PairWriter(PIPELINE, linker.profile, blocker_of(self._profile).names)
        report = self._report() if "page" in outputs else None
        for name, changes in (("matches", linker.matches), ("reviews", linker.reviews)):
            pairs = changes()
            self._written[name] = len(pairs)
            if report is not None:
                report.take(pairs, matches=name == "matches")
            if name in outputs:
                outputs[name].write(self._pair_line(writer, pair) for pair in pairs)
            del pairs
        entities = linker.entities()
        self._written["entities"] = len(entities)
        if "entities" in outputs:
            outputs["entities"].write(map(self._entity_line, entities))
        if "golden" in outputs:
            outputs["golden"].write(self._golden_lines(entities))
        if self._tables is not None:
            self._tables.write(entities, self._known)
        if report is not None:
            outputs["page"].write(report.page(self._totals(), entities, self._notes()))

    def _report(self) -> "LinkReport":
        from stream_lsh.cli.reports.link_html import LinkReport  # noqa: PLC0415 - for reports only

        return LinkReport(self._linker, self._training)

    def _totals(self) -> dict[str, int]:
        reader, written = self.record_reader, self._written
        return {
            "records": reader.records,
            "candidates": self._linker.counts.candidates,
            "matches": written["matches"],
            "pairs to review": written["reviews"],
            "entities": written["entities"],
            "rejected": reader.reasons.total(),
        }

    def _golden_lines(self, entities: Sequence[Entity]) -> Iterator[bytes]:
        """The golden records: lines of CSV, unless the extension of the output names another format."""
        if format_of(self._outputs["golden"].name) in ("", "csv"):
            yield from golden_rows(entities, self._profile)
            return
        for entity in entities:
            yield encode({"entity": entity.id, "size": len(entity.members), **entity.golden})

    def _pair_line(self, writer: PairWriter, pair: RecordMatch) -> bytes:
        left, right = self._known[pair.left].time_ms, self._known[pair.right].time_ms
        return encode(writer.message(pair, left, right, max(left, right)))  # a pair is known once its later record is

    def _entity_line(self, entity: Entity) -> bytes:
        members = [{"id": id, "source": self._known[id].source} for id in entity.members]
        return encode({"entity": entity.id, "size": len(members), "members": members, "golden": entity.golden})

    # -- reporting

    def report(self, seconds: float) -> None:
        """The summary, on standard error."""
        counts, reported, records = self._linker.counts, self._written, self.record_reader.records
        first = (
            f"{counted(records, 'record')}, {counted(counts.candidates, 'candidate')}, "
            f"{counted(reported['matches'], 'match', 'matches')}, {reported['reviews']:,} to review, "
            f"{counted(reported['entities'], 'entity', 'entities')}, {seconds:.1f} s, "
            f"{records / max(seconds, 1e-3):,.0f} records/s"
        )
        report_lines([first, *self._notes(caps_lines(counts))])

    def _notes(self, caps: Sequence[str] = ()) -> list[str]:
        """The lines of the summary below the first one."""
        counts = self._linker.counts
        lines = [f"{self._deletes:,} deletes"] if self._deletes else []
        ignored = (self._options.time_column or TIME, DELETED)
        lines += unmatched_columns(self._profile, self._columns, ignored) if self._columns else []
        lines += caps
        if counts.capped_by_block:
            lines.append(
                f"{counts.capped_postings:,} blocks were not followed to their end{_rules(counts.capped_by_block)}"
            )
        lines += [] if self._tables is None else self._tables.summary()
        return lines + self.record_reader.summary()


def _rules(capped: Counter[str]) -> str:
    """The rules behind the capped blocks, the most frequent ones by name."""
    named = [f"{rule} {count:,}" for rule, count in sorted(capped.items(), key=lambda entry: (-entry[1], entry[0]))]
    more = [f"{len(named) - _MOST_RULES} other rules"] if len(named) > _MOST_RULES else []
    return f" ({', '.join(named[:_MOST_RULES] + more)})" if named else ""


def golden_rows(entities: Iterable[Entity], profile: Profile) -> Iterator[bytes]:
    """The golden records as lines of CSV, after a header.

    Example:
        >>> from stream_lsh.records.profile import Field
        >>> profile = Profile(name="x", fields=(Field(name="name"), Field(name="tags")), comparisons=())
        >>> [*golden_rows([Entity("1", ("2", "1"), {"name": "Lee, Ann", "tags": ["a", 7]})], profile)]
        [b'entity,size,name,tags', b'1,2,"Lee, Ann","[""a"",7]"']
    """
    yield _row(["entity", "size", *profile.names])
    for entity in entities:
        yield _row([entity.id, len(entity.members), *(_cell(entity.golden.get(name)) for name in profile.names)])


def _row(cells: Sequence[object]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(cells)
    return text.getvalue().encode()


def _cell(value: object) -> object:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) if isinstance(value, list | dict) else value
