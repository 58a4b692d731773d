"""A pool of processes that compute signatures, the most expensive step of `dedup`.

They are forked when only the libraries are loaded.  Texts and signatures travel through shared memory, one batch in a
slot; only numbers of slots travel through pipes.

    slot    u32 n, u32 bytes | u32[n] lengths in code points | the texts, joined, as UTF-8     on the way there
            u64[n] digests | u32[n, slots] values                                              on the way back

Batches wait in one pipe, and the first idle signer takes the next one.  This process takes one itself when it would
have to wait: so all processes are busy until the end, however many there are.  A signer ends when the pipe of its tasks
is closed: it cannot outlive the parent.
"""

import mmap
import os
import select
from collections.abc import Sequence

import numpy as np

from stream_lsh.cli.input.reader_process import end_child
from stream_lsh.cli.process import ignore
from stream_lsh.errors import ConfigError, StreamLSHError
from stream_lsh.pipeline.batches import Signatures
from stream_lsh.pipeline.local import BATCH
from stream_lsh.pipeline.scheme import Scheme

_SLOT_BYTES = 4 << 20
_SLOTS_PER_SIGNER = 16
_NUMBER = 4


class Signers:
    """Processes that sign batches of texts.

    Args:
        count: the number of processes; with 0 every offer is declined.
        scheme: of the signatures.

    Raises:
        ConfigError: the system refuses this number of processes.
    """

    def __init__(self, count: int, scheme: Scheme) -> None:
        self._scheme = scheme
        self._children: list[int] = []
        try:
            self._memory = mmap.mmap(-1, max(1, count * _SLOTS_PER_SIGNER) * _SLOT_BYTES)
        except (OSError, OverflowError) as error:
            raise _too_many(count, error) from None
        self._free = list(range(count * _SLOTS_PER_SIGNER))
        self._texts_by_slot: dict[int, int] = {}
        self._signed: set[int] = set()
        self._own: dict[int, Signatures] = {}
        self._waiting, self._tasks = os.pipe()
        self._done, done_in = os.pipe()
        os.set_blocking(self._waiting, False)  # a process that finds the pipe empty must not wait
        for _ in range(count):
            try:
                child = os.fork()
            except OSError as error:
                self.close()
                raise _too_many(count, error) from None
            if child == 0:
                os.close(self._tasks)
                os.close(self._done)
                _sign_batches(scheme, self._memory, self._waiting, done_in)
            self._children.append(child)
        os.close(done_in)

    @property
    def full(self) -> bool:
        """Whether all slots are taken until a batch is collected."""
        return bool(self._children) and not self._free

    def offer(self, texts: Sequence[str]) -> int | None:
        """Hand over a batch; returns its slot for `collect`, or None if it exceeds a slot or all are taken."""
        if not self._free or len(texts) > BATCH:
            return None
        data = "".join(texts).encode("utf-8", "surrogatepass")
        if 8 + 4 * len(texts) + len(data) > _SLOT_BYTES:
            return None
        slot = self._free.pop()
        start = slot * _SLOT_BYTES
        header = np.array([len(texts), len(data), *map(len, texts)], np.uint32).tobytes()
        self._memory[start : start + len(header)] = header
        self._memory[start + len(header) : start + len(header) + len(data)] = data
        self._texts_by_slot[slot] = len(texts)
        os.write(self._tasks, slot.to_bytes(_NUMBER, "little"))
        return slot

    def ready(self, slot: int) -> bool:
        """Whether a batch can be collected without waiting."""
        while slot not in self._signed and self._wait_for_signed(0.0):
            pass
        return slot in self._signed

    def collect(self, slot: int) -> Signatures:
        """The signatures of a batch; its slot is free again.  Instead of waiting, this process signs too."""
        while not self.ready(slot):
            if self._help() or self._wait_for_signed(1.0):
                continue
            if any(os.waitpid(child, os.WNOHANG)[0] for child in self._children):
                raise StreamLSHError("a process that signs has died: is there enough memory? --jobs 1 needs the least")
        self._signed.discard(slot)
        self._free.append(slot)
        count, slots, start = self._texts_by_slot.pop(slot), self._scheme.slots, slot * _SLOT_BYTES
        if slot in self._own:
            return self._own.pop(slot)
        digests = np.frombuffer(self._memory, np.uint64, count, start).copy()
        values = np.frombuffer(self._memory, np.uint32, count * slots, start + 8 * count).copy()
        return Signatures(values.reshape(count, slots), digests)

    def _help(self) -> bool:
        """Sign the batch that has waited longest, if there is one."""
        try:
            slot = int.from_bytes(os.read(self._waiting, _NUMBER), "little")
        except BlockingIOError:
            return False
        self._own[slot] = self._scheme.sign(_texts(self._memory, slot * _SLOT_BYTES))
        self._signed.add(slot)
        return True

    def _wait_for_signed(self, seconds: float) -> bool:
        """Wait for one signed batch; False if none came within the time."""
        if not select.select([self._done], [], [], seconds)[0]:
            return False
        number = os.read(self._done, _NUMBER)
        self._signed.add(int.from_bytes(number, "little"))
        return bool(number)

    def close(self) -> None:
        """End all processes, even in the middle of their work."""
        for descriptor in (self._tasks, self._waiting, self._done):
            os.close(descriptor)
        for child in self._children:
            end_child(child)
        self._children.clear()


def _too_many(count: int, error: OSError | OverflowError) -> ConfigError:
    reason = (isinstance(error, OSError) and error.strerror) or str(error)
    return ConfigError(f"--jobs: got {count + 1:,}, which the system refuses ({reason}), expected fewer processes")


def _sign_batches(scheme: Scheme, memory: mmap.mmap, waiting: int, done: int) -> None:
    """Run a signing process; never returns."""
    ignore()
    try:
        while True:
            select.select([waiting], [], [])
            try:
                number = os.read(waiting, _NUMBER)
            except BlockingIOError:  # another process was faster
                continue
            if not number:
                break
            start = int.from_bytes(number, "little") * _SLOT_BYTES
            signatures = scheme.sign(_texts(memory, start))
            result = signatures.digests.tobytes() + signatures.values.tobytes()
            memory[start : start + len(result)] = result
            os.write(done, number)
    finally:
        os._exit(0)


def _texts(memory: mmap.mmap, start: int) -> list[str]:
    count, size = np.frombuffer(memory, np.uint32, 2, start).tolist()
    lengths = np.frombuffer(memory, np.uint32, count, start + 8)
    ends = np.cumsum(lengths, dtype=np.int64).tolist()
    begin = start + 8 + 4 * count
    joined = memory[begin : begin + size].decode("utf-8", "surrogatepass")
    return [joined[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]
