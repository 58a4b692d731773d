"""The kind of records: a profile compares their fields and computes the probability that two records are one entity."""

from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import msgspec

from stream_lsh.errors import ConfigError, InvariantError
from stream_lsh.files.discover import TABLES, Input
from stream_lsh.kinds.kind import FeedPart, KeyValue, KindDefaults, Setting, StoredSize
from stream_lsh.kinds.queries import Queries
from stream_lsh.kinds.record.example import example_record
from stream_lsh.kinds.record.files import find_record_inputs, read_records
from stream_lsh.kinds.record.golden import limits_of_records
from stream_lsh.kinds.record.messages import MAX_RECORD_BYTES, check_size, parse_record, record_message
from stream_lsh.kinds.record.rows import RecordNames, deleted
from stream_lsh.kinds.record.settings import RecordSettings
from stream_lsh.kinds.results import Results
from stream_lsh.model import Document
from stream_lsh.pipeline.limits import Limits
from stream_lsh.pipeline.scheme import Scheme
from stream_lsh.records.model import Record
from stream_lsh.records.profile import Profile, without_weights
from stream_lsh.records.reading import Reader
from stream_lsh.wire.field_names import FieldNames
from stream_lsh.wire.message import ParseRules


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordKind(RecordSettings, KindDefaults):
    """The kind of records, with the settings of one pipeline."""

    name: ClassVar[str] = "record"
    plural: ClassVar[str] = "records"
    clusters: ClassVar[str] = "entities"
    takes_decisions: ClassVar[bool] = True

    shadow: ClassVar[float] = 0.0
    recall: ClassVar[float] = 1.0
    seed: ClassVar[int] = 1

    @property
    def profile_reader(self) -> Reader:
        """The reader of the loaded profile."""
        if self.reader is None:
            raise InvariantError(f"got the profile {self.profile!r} unread, expected a configuration from a file")
        return self.reader

    @property
    def loaded_profile(self) -> Profile:
        """The profile of the records."""
        return self.profile_reader.profile

    @property
    def topics(self) -> frozenset[str]:
        """The topics, with entities in place of clusters, and reviews."""
        return frozenset({"matches", "members", "entities", "reviews", "dead_letters"})

    @property
    def least(self) -> float:
        """The least similarity of a pair to review."""
        return self.loaded_profile.review

    @property
    def link_from(self) -> float | None:
        """The least similarity of a match."""
        return self.loaded_profile.match

    def scheme(self) -> Scheme:
        """The scheme, which computes blocking keys and scores pairs."""
        from stream_lsh.kinds.record.scheme import RecordScheme  # noqa: PLC0415 - loads the libraries of comparators

        return RecordScheme(self.loaded_profile)

    def pairwise(self) -> None:
        """None: a score depends on the frequencies of values among all records."""

    def stored_settings(self) -> dict[str, Setting]:
        """The settings of the scheme."""
        return self.scheme().settings

    def stored_size(self) -> StoredSize:
        """The size of standardised and raw values; the at most 64 keys fit the space that every version has."""
        return StoredSize(0, 0, document=2 * MAX_RECORD_BYTES)

    def limits(self, limits: Limits) -> Limits:
        """The limits, with the guards of the profile and golden records."""
        return limits_of_records(limits, self.loaded_profile)

    def parse(
        self, value: bytes | None, key: bytes | None, rules: ParseRules, timestamp_ms: int | None, now_ms: int | None
    ) -> Document:
        """The record in a message."""
        reader = self.profile_reader
        return parse_record(value, key, reader, rules, fallback_time_ms=timestamp_ms, now_ms=now_ms).document

    def message(self, document: Document, names: FieldNames) -> KeyValue:
        """The message for a record, with its raw fields."""
        if document.text is None:
            return record_message(Record(document.id, {names.deleted: True}), self.loaded_profile, names)
        about = document.about
        record = Record(document.id, msgspec.json.decode(about.title), about.source, document.time_ms)
        return record_message(record, self.loaded_profile, names)

    def example(self, group: int, member: int, size: int, names: FieldNames) -> KeyValue:
        """A record with values in the fields that blocking uses most."""
        return record_message(example_record(self.loaded_profile, group, member, size), self.loaded_profile, names)

    def queries(self, names: FieldNames) -> Queries:
        """Queries by a record."""
        from stream_lsh.kinds.record.queries import RecordQueries  # noqa: PLC0415 - loads the libraries of comparators

        return RecordQueries(self.loaded_profile)

    def results(self, pipeline: str) -> Results:
        """Results of records: scored pairs, members, entities, and reviews."""
        from stream_lsh.kinds.record.results import RecordResults  # noqa: PLC0415 - loads the libraries of comparators

        return RecordResults(pipeline, self.loaded_profile)

    def find_files(self, options: Namespace) -> list[Input]:
        """Find files of records."""
        names = [name for name in ("text", "title", "url") if getattr(options, f"{name}_column") is not None]
        problems = [f"--{name}-column: applies to documents, but the pipeline has records" for name in names]
        if options.format not in (None, *TABLES):
            problems.append(f"--format: got {options.format}, expected a format with records")
        if problems:
            raise ConfigError(problems)
        return find_record_inputs(options.file, options.format, options.delimiter)

    def read_files(
        self, inputs: Sequence[Input], options: Namespace, names: FieldNames, now_ms: int
    ) -> Iterator[FeedPart]:
        """The records of the files as messages; a record without a time becomes a message without one.

        Records that are too large for a worker are rejected.
        """

        def check(record: Record) -> None:
            if not deleted(record, names.deleted):  # of a deletion only the id is sent
                check_size(self.profile_reader, record)

        profile, most = self.loaded_profile, options.max_bytes
        time_column = options.time_column or names.time
        columns = RecordNames.of(profile, options.id_column, options.source_column, time_column, timed=True)
        columns = replace(columns, must_time=options.time_column is not None, time_unit=options.time_unit)
        for part in read_records(inputs, columns, max_bytes=most, encoding=options.encoding, check=check):
            messages = (record_message(record, profile, names) for record in part.records)
            yield FeedPart(messages, part.refused, part.position)

    def warnings(self) -> Iterator[str]:
        """A warning about a profile without trained weights, or the doubts about its weights."""
        if not self.loaded_profile.learned:
            which = without_weights(self.loaded_profile)
            yield (
                f"the profile {self.profile} has no trained weights{which}, so scores are weighted means instead of "
                f"probabilities: train it with stream-lsh train FILE... --profile {self.profile} --output LEARNED.toml"
            )
        for doubt in self.loaded_profile.doubts:
            yield f"the profile {self.profile} has weights with a doubt: {doubt}"
