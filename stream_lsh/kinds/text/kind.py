"""The kind of texts: documents that share shingles, such as articles and pages."""

from argparse import Namespace
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from stream_lsh.files.column_names import of_documents
from stream_lsh.files.discover import Input, find_inputs
from stream_lsh.kinds.examples import TIME_MS, WORD_BYTES, example_id, with_another_end, words
from stream_lsh.kinds.kind import TOPICS, FeedPart, KeyValue, KindDefaults, Setting
from stream_lsh.kinds.results import Results, TextResults
from stream_lsh.kinds.shingled.methods import ShingleScheme, text_scheme
from stream_lsh.kinds.text.files import read
from stream_lsh.kinds.text.messages import RAW, message, parse_document
from stream_lsh.kinds.text.settings import TextSettings
from stream_lsh.model import NO_ABOUT, About, Document
from stream_lsh.pipeline.limits import Limits
from stream_lsh.text.catalog import EARLIER_DEFAULT, as_stored
from stream_lsh.wire.field_names import FieldNames
from stream_lsh.wire.message import ParseRules


@dataclass(frozen=True, slots=True, kw_only=True)
class TextKind(TextSettings, KindDefaults):
    """The kind of texts, with the settings of one pipeline."""

    name: ClassVar[str] = "text"

    @property
    def topics(self) -> frozenset[str]:
        """The topics of every kind, and mirrored sites if they are monitored."""
        return TOPICS | {"mirror_sites"} if self.mirror_share else TOPICS

    def scheme(self) -> ShingleScheme:
        """The scheme, which computes signatures and buckets and compares pairs."""
        return text_scheme(
            self.method,
            self.threshold,
            self.shingles,
            recall=self.recall,
            slots=self.slots,
            normalise=self.normalise,
            seed=self.seed,
            measure=self.similarity,
            min_characters=self.min_characters,
            banding=self.banding(),
        )

    def pairwise(self) -> ShingleScheme:
        """The scheme."""
        return self.scheme()

    def stored_settings(self) -> dict[str, Setting]:
        """The settings of the scheme, the measure, and the part of a page that is read."""
        scheme = self.scheme()
        read_from = {} if self.html == "off" else {"html": self.html}
        return {**scheme.settings, **scheme.measure.settings, **read_from}

    def as_stored(self, settings: Mapping[str, Setting], named: Container[str]) -> Self:
        """With the shingles of the state, if it has an earlier version of them, or the earlier default."""
        is_default = "shingles" not in named and settings.get("shingles") == EARLIER_DEFAULT
        name = EARLIER_DEFAULT if is_default else self.shingles
        return replace(self, shingles=as_stored(name, settings))

    def limits(self, limits: Limits) -> Limits:
        """The limits, without caps if the method has none, and with stories if they are enabled."""
        return replace(TextSettings.limits(self, limits), stories=self.stories)

    def parse(
        self, value: bytes | None, key: bytes | None, rules: ParseRules, timestamp_ms: int | None, now_ms: int | None
    ) -> Document:
        """The document in a message."""
        return parse_document(
            value, key, rules, fallback_time_ms=timestamp_ms, now_ms=now_ms, stories=self.stories, html=self.html
        )

    def message(self, document: Document, names: FieldNames) -> KeyValue:
        """The message for a document."""
        return message(document, names)

    def example(self, group: int, member: int, size: int, names: FieldNames) -> KeyValue:
        """A text of words, with a title and a source if the clusters are stories."""
        shared = words(group, 0, max(4, round(size / WORD_BYTES)))
        text = " ".join(with_another_end(shared, group, member, self.threshold))
        about = About(" ".join(shared[:8]), f"outlet{member}.example") if self.stories else NO_ABOUT
        return message(Document(example_id(group, member), text, TIME_MS, about), names)

    def results(self, pipeline: str) -> Results:
        """Pairs, members, clusters, and mirrors."""
        return TextResults(pipeline, self.measure, self.mirror_share)

    def find_files(self, options: Namespace) -> list[Input]:
        """Find files of documents; pages keep their HTML, which the worker reads."""
        of_documents(options)
        options.stories, options.html = self.stories, RAW if self.html != "off" else self.html
        return find_inputs(options.file, options.format, delimiter=options.delimiter)

    def read_files(
        self, inputs: Sequence[Input], options: Namespace, names: FieldNames, now_ms: int
    ) -> Iterator[FeedPart]:
        """The documents of the files as messages."""
        for part in read(inputs, options, fallback_time_ms=now_ms):
            yield FeedPart((message(document, names) for document in part.documents), part.refused, part.position)
