"""Numbers as a kind: its keys, its messages, its scheme, its results."""

from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from stream_lsh.errors import MalformedMessage
from stream_lsh.files.column_names import of_documents
from stream_lsh.files.discover import TABLES, Input, find_inputs
from stream_lsh.kinds.examples import TIME_MS, example_id
from stream_lsh.kinds.kind import FeedPart, KeyValue, KindDefaults, Setting, StoredSize
from stream_lsh.kinds.results import Results, TextResults
from stream_lsh.kinds.single_field import parse_valued, valued_message
from stream_lsh.kinds.single_field_files import feed_values
from stream_lsh.model import Document
from stream_lsh.settings import value_types
from stream_lsh.settings.schema import key
from stream_lsh.wire.field_names import FieldNames
from stream_lsh.wire.message import ParseRules
from tests.conformance.number_kind.scheme import NumberScheme


class NumberForm:
    """A number in the field `text`."""

    field = "text"

    def text(self, value: Any, name: str) -> str:
        if type(value) not in (int, float):
            raise MalformedMessage("text", f"got {value!r:.60} as `{name}`, expected a number")
        return repr(float(value))

    def value(self, text: str) -> float:
        return float(text)

    def of_cell(self, cell: str) -> float:
        return float(cell)


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberKind(KindDefaults):
    """Numbers within a distance."""

    name: ClassVar[str] = "number"
    plural: ClassVar[str] = "numbers"
    defaults: ClassVar[Mapping[str, Any]] = {"retention_ms": None}
    fields: ClassVar[frozenset[str]] = frozenset({"id", "text", "time", "deleted"})
    shadow: ClassVar[float] = 0.0
    recall: ClassVar[float] = 1.0
    seed: ClassVar[int] = 1

    distance: float = field(default=1.0, metadata=key(value_types.LENGTH, "the greatest distance of a match"))

    @property
    def least(self) -> float:
        return 1 / (1 + self.distance)

    def scheme(self) -> NumberScheme:
        return NumberScheme(self.distance)

    def pairwise(self) -> NumberScheme:
        return self.scheme()

    def stored_settings(self) -> dict[str, Setting]:
        return self.scheme().settings

    def stored_size(self) -> StoredSize:
        return StoredSize(NumberScheme.slots, NumberScheme.width)

    def parse(
        self, value: bytes | None, key: bytes | None, rules: ParseRules, timestamp_ms: int | None, now_ms: int | None
    ) -> Document:
        return parse_valued(value, key, NumberForm(), rules, fallback_time_ms=timestamp_ms, now_ms=now_ms)

    def message(self, document: Document, names: FieldNames) -> KeyValue:
        return valued_message(document, NumberForm(), names)

    def example(self, group: int, member: int, size: int, names: FieldNames) -> KeyValue:
        value = (10 * group + member / (1 + member)) * self.distance
        return valued_message(Document(example_id(group, member), repr(value), TIME_MS), NumberForm(), names)

    def results(self, pipeline: str) -> Results:
        return TextResults(pipeline, self.name)

    def find_files(self, options: Namespace) -> list[Input]:
        of_documents(options)
        return find_inputs(options.file, options.format, TABLES)

    def read_files(
        self, inputs: Sequence[Input], options: Namespace, names: FieldNames, now_ms: int
    ) -> Iterator[FeedPart]:
        return feed_values(inputs, options, NumberForm(), names, now_ms)
