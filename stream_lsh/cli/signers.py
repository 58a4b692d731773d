"""Signatures and shingle sets made by other processes, which is where most of the time of `dedup` goes.

They are forked when the libraries are loaded and nothing else is; texts go to them and what they make comes back through
memory that all of them share, a task per slot, and only numbers of slots pass through pipes.

    slot    u32 n, u32 bytes | u32[n] lengths in code points | the texts, joined, as UTF-8     on the way there
            u64[n] digests | u32[n, slots] values                                              back: signatures
            u32[n] sizes, padded to 8 bytes | u64[...] the sets, one after the other           back: shingle sets

Two pipes hold tasks for whoever reads first: batches to be signed, which have time, and sets, which somebody waits for
and which therefore come first, also in the middle of a batch.  This process takes from both pipes too when it would have
to wait: so all are busy until the end, however many there are.  A signer ends when these pipes do: it cannot outlive
the parent.
"""

import mmap
import os
import select
from collections.abc import Callable, Sequence

import numpy as np

from stream_lsh.arrays import U64
from stream_lsh.cli.inflate import end_child
from stream_lsh.cli.signals import ignore
from stream_lsh.errors import StreamLSHError
from stream_lsh.pipeline.local import BATCH
from stream_lsh.pipeline.scheme import Scheme, Signatures
from stream_lsh.text.groups import groups

_SLOT_BYTES = 4 << 20
_BATCHES = 16  # slots a signer for batches; further ones, as many, for sets
_SLICE = 65_536  # characters after which a signer looks for what is more urgent
_NUMBER = 4


class _Tasks:
    """A pipe of numbers of slots, and what is done with a slot: the same in all processes."""

    def __init__(self, perform: Callable[[int], object]) -> None:
        self.waiting, self._give = os.pipe()
        self.perform = perform
        os.set_blocking(self.waiting, False)  # who comes second must not wait here

    def give(self, slot: int) -> None:
        """Somebody is to perform this."""
        os.write(self._give, slot.to_bytes(_NUMBER, "little"))

    def take(self) -> int | None:
        """The slot that has waited longest, for this process to perform; None if there is none."""
        try:
            number = os.read(self.waiting, _NUMBER)
        except BlockingIOError:
            return None
        if not number:
            os._exit(0)  # only a signer gets here: the parent is gone
        return int.from_bytes(number, "little")

    def only_take(self) -> None:
        """In a signer: the pipe is to end when the parent does."""
        os.close(self._give)

    def close(self) -> None:
        """No more tasks."""
        os.close(self.waiting)
        os.close(self._give)


class Signers:
    """Processes that sign batches of texts and make shingle sets.

    It is a `Scheme` itself: that of which it is made, whose sets are made by all processes together.

    Args:
        count: how many processes; with 0 all work is done here.
        scheme: what they work with.
    """

    def __init__(self, count: int, scheme: Scheme) -> None:
        self._scheme = scheme
        self._children: list[int] = []
        self._batches = count * _BATCHES
        self._free = list(range(self._batches))
        self._memory = mmap.mmap(-1, max(1, 2 * self._batches) * _SLOT_BYTES)
        self._texts_by_slot: dict[int, int] = {}
        self._performed: set[int] = set()
        self._sign, self._sets = _Tasks(self._sign_slot), _Tasks(self._make_sets)
        self._done, self._tell = os.pipe()
        for _ in range(count):
            child = os.fork()
            if child == 0:
                os.close(self._done)
                self._work_until_told()
            self._children.append(child)

    # -- batches to sign

    @property
    def full(self) -> bool:
        """Whether no batch can be given away before one is collected."""
        return bool(self._children) and not self._free

    def offer(self, texts: Sequence[str]) -> int | None:
        """Give a batch away; the number to `collect` it by, None if it is too big for a slot or all are taken."""
        if not self._free or len(texts) > BATCH or not self._put(self._free[-1], texts):
            return None
        slot = self._free.pop()
        self._texts_by_slot[slot] = len(texts)
        self._sign.give(slot)
        return slot

    def ready(self, slot: int) -> bool:
        """Whether a batch can be collected without waiting."""
        while slot not in self._performed and self._told(0.0):
            pass
        return slot in self._performed

    def collect(self, slot: int) -> Signatures:
        """The signatures of a batch; its slot is free again."""
        self._wait_for(slot, self._sign)
        self._free.append(slot)
        count, slots, start = self._texts_by_slot.pop(slot), self._scheme.slots, slot * _SLOT_BYTES
        digests = np.frombuffer(self._memory, np.uint64, count, start).copy()
        values = np.frombuffer(self._memory, np.uint32, count * slots, start + 8 * count).copy()
        return Signatures(values.reshape(count, slots), digests)

    # -- the scheme

    @property
    def slots(self) -> int:
        """The length of a signature."""
        return self._scheme.slots

    @property
    def settings(self) -> dict[str, str | int | float]:
        """Everything that signatures, buckets and shingle sets depend on."""
        return self._scheme.settings

    def sign(self, texts: Sequence[str]) -> Signatures:
        """One signature and one digest a text."""
        return self._scheme.sign(texts)

    def buckets(self, signatures: Signatures) -> U64:
        """The buckets of each text."""
        return self._scheme.buckets(signatures)

    def least_matching(self, threshold: float) -> int:
        """Slots in which the signatures of a match agree, if it is to be looked at."""
        return self._scheme.least_matching(threshold)

    def shingle_sets(self, texts: Sequence[str]) -> list[U64]:
        """The distinct shingles of each text, made here and by those who have finished what they were at."""
        pieces = [texts[piece] for piece in groups(texts, _SLICE)] if self._children else [texts]
        made: list[list[U64] | None] = [None] * len(pieces)
        given: dict[int, int] = {}
        for number, piece in enumerate(pieces[1:], 1):
            slot = self._batches + number - 1
            if number <= self._batches and self._put(slot, piece):
                self._sets.give(slot)
                given[number] = slot
        for number, piece in enumerate(pieces):
            if number not in given:
                made[number] = self._scheme.shingle_sets(piece)
        for number, slot in given.items():
            self._wait_for(slot, self._sets)
            made[number] = self._taken_sets(slot, len(pieces[number]))
        return [one for some in made for one in some or ()]

    def _taken_sets(self, slot: int, count: int) -> list[U64]:
        start = slot * _SLOT_BYTES
        ends = np.cumsum(np.frombuffer(self._memory, np.uint32, count, start), dtype=np.int64)
        sets = np.frombuffer(self._memory, np.uint64, int(ends[-1]), start + (4 * count + 7 & ~7))
        return [one.copy() for one in np.split(sets, ends[:-1])]

    # -- in all processes

    def _put(self, slot: int, texts: Sequence[str]) -> bool:
        """Lay texts into a slot, if they fit, and so does what is made of them."""
        data = "".join(texts).encode("utf-8", "surrogatepass")
        if 16 * len(texts) + 8 * len(data) > _SLOT_BYTES - 8 and slot >= self._batches:
            return False
        if 8 + 4 * len(texts) + len(data) > _SLOT_BYTES:
            return False
        start = slot * _SLOT_BYTES
        header = np.array([len(texts), len(data), *map(len, texts)], np.uint32).tobytes()
        self._memory[start : start + len(header)] = header
        self._memory[start + len(header) : start + len(header) + len(data)] = data
        return True

    def _texts(self, slot: int) -> list[str]:
        start = slot * _SLOT_BYTES
        count, size = np.frombuffer(self._memory, np.uint32, 2, start).tolist()
        ends = np.cumsum(np.frombuffer(self._memory, np.uint32, count, start + 8), dtype=np.int64).tolist()
        begin = start + 8 + 4 * count
        joined = self._memory[begin : begin + size].decode("utf-8", "surrogatepass")
        return [joined[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]

    def _sign_slot(self, slot: int) -> None:
        texts, parts = self._texts(slot), []
        for piece in groups(texts, _SLICE):
            parts.append(self._scheme.sign(texts[piece]))
            self._perform(self._sets)
        digests = b"".join([part.digests.tobytes() for part in parts])
        self._write(slot, digests + b"".join([part.values.tobytes() for part in parts]))

    def _make_sets(self, slot: int) -> None:
        sets = self._scheme.shingle_sets(self._texts(slot))
        sizes = np.array([one.size for one in sets], np.uint32).tobytes()
        self._write(slot, sizes + bytes(-len(sizes) % 8) + b"".join([one.tobytes() for one in sets]))

    def _write(self, slot: int, made: bytes) -> None:
        start = slot * _SLOT_BYTES
        self._memory[start : start + len(made)] = made
        os.write(self._tell, slot.to_bytes(_NUMBER, "little"))

    @staticmethod
    def _perform(tasks: _Tasks) -> bool:
        """Perform one of these tasks, if there is one."""
        slot = tasks.take()
        if slot is None:
            return False
        tasks.perform(slot)
        return True

    # -- in the parent

    def _wait_for(self, slot: int, tasks: _Tasks) -> None:
        """Have a slot performed, by this process if nobody else has begun."""
        while not self.ready(slot):
            if self._perform(tasks) or self._told(1.0):
                continue
            if any(os.waitpid(child, os.WNOHANG)[0] for child in self._children):
                raise StreamLSHError("a process that signs has died: is there enough memory? --jobs 1 needs the least")
        self._performed.discard(slot)

    def _told(self, seconds: float) -> bool:
        """Hear of one slot that has been performed, if that happens within a time."""
        if not select.select([self._done], [], [], seconds)[0]:
            return False
        self._performed.add(int.from_bytes(os.read(self._done, _NUMBER), "little"))
        return True

    def close(self) -> None:
        """End all processes, whatever they are doing."""
        self._sign.close()
        self._sets.close()
        os.close(self._done)
        os.close(self._tell)
        for child in self._children:
            end_child(child)
        self._children.clear()

    # -- in a signer

    def _work_until_told(self) -> None:
        """What a signer does; it never returns."""
        ignore()
        self._sign.only_take()
        self._sets.only_take()
        try:
            while True:
                select.select([self._sets.waiting, self._sign.waiting], [], [])
                if not self._perform(self._sets):
                    self._perform(self._sign)
        finally:
            os._exit(0)
