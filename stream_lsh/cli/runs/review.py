"""The run of `review`: ranks pairs of records by their uncertainty, shows them, and stores the answers."""

from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from math import log2

from stream_lsh.cli.input.keys import key, single_keys
from stream_lsh.cli.input.record_reader import RecordReader
from stream_lsh.cli.output.atomic_files import Output
from stream_lsh.cli.output.terminal import Screen, clipped, padded, plain
from stream_lsh.cli.reports.columns import unread_columns
from stream_lsh.cli.reports.waterfall import Pair, as_text
from stream_lsh.cli.runs.label_file import Label, LabelFile
from stream_lsh.cli.runs.learn import check_comparable, learned_here
from stream_lsh.files.discover import Input
from stream_lsh.kinds.record.in_memory import RecordLinker, training_on
from stream_lsh.kinds.record.labels import answer_of, rows_by_id
from stream_lsh.records.block.blocker import blocker_of
from stream_lsh.records.explained import explain_pair
from stream_lsh.records.model import Record, RecordMatch
from stream_lsh.records.profile import Profile
from stream_lsh.records.reading import Reader
from stream_lsh.records.score import Scorer

_LEAST = 0.01
"""The least probability of a pair that is shown, unless the profile has a lower one."""
_AT_ONCE = 1_000
_MOST_COLUMNS = 8
"""Columns that are shown and not compared."""
SAME, DIFFERENT = "1", "0"
_ANSWERS = {"s": ("same", SAME), "d": ("different", DIFFERENT), " ": ("skipped", None)}
KEYS = "s same, d different, space skip, u undo, q quit"


class ReviewRun:
    """One run.

    Args:
        options: those of the command.
        profile: of the records.
        inputs: the files.
        rejects: gets a line for each rejected record.
    """

    def __init__(
        self, options: Namespace, profile: Profile, inputs: Sequence[Input], rejects: Output | None = None
    ) -> None:
        self._options, self._inputs = options, inputs
        self._file = LabelFile(options.labels, options.encoding)
        self._reader = RecordReader(inputs, options, profile, rejects)
        self._records = self._read(profile)
        self._profile = self._learned(profile)
        self._fields = Reader(self._profile)
        self._scorer = Scorer(self._profile)
        self._scorer.count(map(self._fields.values, self._records.values()))
        self._blocker = blocker_of(self._profile)
        self._left = 0
        self._skipped = 0

    def _read(self, profile: Profile) -> dict[str, Record]:
        records = self._reader.by_id()
        sources = {record.source for record in records.values()}
        reader = Reader(profile)
        values = any(any(reader.values(record)) for record in records.values())
        check_comparable(profile, self._inputs, len(records), sources, values=values)
        return dict(sorted(records.items(), key=lambda entry: (entry[1].time_ms, entry[0])))

    def _learned(self, profile: Profile) -> Profile:
        records = [*self._records.values()]
        if len(records) < 2:
            return profile
        return learned_here(profile, len(records), partial(training_on, profile, records), quiet=self._options.quiet)

    # -- ranking

    def ranked(self) -> list[RecordMatch]:
        """The pairs without a label, the nearest to the threshold of a match first."""
        profile = replace(self._profile, review=min(self._profile.review, _LEAST))
        linker, records = RecordLinker(profile), [*self._records.values()]
        self._reader.progress.say(f"comparing {len(records):,} records ...")
        linker.count_first(records)
        for start in range(0, len(records), _AT_ONCE):
            linker.add_many(records[start : start + _AT_ONCE])
        self._reader.progress.clear()
        labelled = self._labelled()
        pairs = [pair for pair in (*linker.matches(), *linker.reviews()) if {pair.left, pair.right} not in labelled]
        return sorted(pairs, key=lambda pair: (self._distance(pair), pair.left, pair.right))

    def _distance(self, pair: RecordMatch) -> float:
        match = self._profile.match
        if not self._profile.learned or not 0 < match < 1:
            return abs(pair.probability - match)
        return abs(pair.score - log2(match / (1 - match)))

    def _labelled(self) -> set[frozenset[str]]:
        """The pairs that have a label already, by the ids of their records."""
        ids = [*self._records]
        sources = [record.source for record in self._records.values()]
        row_of, _ = rows_by_id({id: row for row, id in enumerate(ids)}, sources)
        known = (label for label in self._file.labels if label.left in row_of and label.right in row_of)
        return {frozenset((ids[row_of[label.left]], ids[row_of[label.right]])) for label in known}

    # -- asking

    def ask(self, pairs: Sequence[RecordMatch], screen: Screen) -> None:
        """Show the pairs one by one, and store each answer at once."""
        at, history = 0, list[str | None]()
        with single_keys():
            while at < len(pairs):
                for line in self._shown(pairs, at, screen):
                    screen.line(line)
                pressed = self._key(screen, undo=bool(history))
                if pressed == "q":
                    break
                if pressed == "u":
                    at -= 1
                    if history.pop() is not None:
                        self._file.labels.pop()
                        self._file.save()
                    continue
                word, match = _ANSWERS[pressed]
                screen.line(screen.coloured(word, "new" if match == SAME else "gone" if match else "dim"))
                history.append(match)
                if match is not None:
                    self._file.labels.append(Label(pairs[at].left, pairs[at].right, match))
                    self._file.save()
                at += 1
        self._left, self._skipped = len(pairs) - at, history.count(None)

    def _key(self, screen: Screen, *, undo: bool) -> str:
        """A key that has a meaning; the end of the input quits."""
        screen.line(KEYS)
        while True:
            pressed = key() or "q"
            if pressed in _ANSWERS or pressed == "q" or (pressed == "u" and undo):
                return pressed

    def _shown(self, pairs: Sequence[RecordMatch], at: int, screen: Screen) -> Iterator[str]:
        pair = pairs[at]
        left, right = self._records[pair.left], self._records[pair.right]
        evidence = explain_pair(
            (self._fields.values(left), self._fields.values(right)),
            self._profile,
            self._scorer,
            raw_values=(self._fields.raw_values(left), self._fields.raw_values(right)),
            sources=(left.source, right.source),
            blocker=self._blocker,
        )
        yield ""
        yield screen.coloured(f"-- pair {at + 1:,} of {len(pairs):,}; {len(self._file.labels):,} labels", "dim")
        yield from as_text(Pair((pair.left, pair.right), evidence), screen, full=False)
        yield from self._others(left, right, screen)

    def _others(self, left: Record, right: Record, screen: Screen) -> Iterator[str]:
        """The columns that are not compared: they may help to decide."""
        columns = unread_columns(self._profile, dict.fromkeys((*left.fields, *right.fields)))
        some = [column for column in columns if left.fields.get(column) or right.fields.get(column)][:_MOST_COLUMNS]
        width = min(20, max(map(len, some), default=0))
        half = max(8, (screen.width - width - 4) // 2)
        for column in some:
            values = (plain(str(record.fields.get(column) or "-")) for record in (left, right))
            cells = [padded(plain(column), width), *(padded(clipped(value, half), half) for value in values)]
            yield screen.coloured("  ".join(cells).rstrip(), "dim")

    def summary(self) -> list[str]:
        """The lines of the summary."""
        labels = self._file.labels
        same = sum(answer_of(label.match) is True for label in labels)
        return [
            f"{len(labels):,} labels in {self._options.labels}: {same:,} same, {len(labels) - same:,} different; "
            f"{self._skipped:,} skipped, {self._left:,} pairs left",
            *self._reader.summary(),
        ]

    def end(self) -> int:
        """The exit code: 1 if rejected records fail the run."""
        return self._reader.end()
