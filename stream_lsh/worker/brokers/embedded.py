"""The mock cluster of librdkafka as a broker in this process: `pip install` alone, nothing on disk.

Two things make it slow.  A fetch without data sleeps its whole wait, whatever arrives: with a client's default
of 500 ms, a message may be that late.  And a fetch returns one batch of a partition, even if there are more:
documents that are sent one by one are read one a fetch.

The mock keeps 5 MiB per partition and drops older batches SILENTLY.  `_raise_retention` lifts that by writing the
limits in the library's own structures, which have no function for it: it finds them by the values that are compiled
in, checks everything it reads, and refuses otherwise.  The layout is that of librdkafka 2.16 on 64-bit machines;
hence the pin of confluent-kafka to 2.16 in the extra `embedded`.  Delete it when the mock gets a function for its
retention.

    cluster +72 ──▶ topic: +0 next topic, +16 name, somewhere the pair (partitions, their number)
                    partitions: an array; in each element the pair (bytes kept, batches kept)
"""

import ctypes
import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from stream_lsh.errors import ConfigError
from stream_lsh.worker.brokers.base import Broker

RETENTION_BYTES = 2_000_000_000
"""Per partition, once raised; the memory of this machine is the real limit."""

FETCH_WAIT_MS = 5
"""`fetch.max.wait.ms` for its clients: a fetch without data is answered after this whole time, whatever arrives."""

_TESTED = "2.16."
_LIMITS = (5 * 1024 * 1024, 100_000)  # compiled into the library: bytes, batches
_RETENTION_BATCHES = 100_000_000
_FIRST_TOPIC = 72

_POINTER, _TEXT, _INT = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
_FUNCTIONS: Mapping[str, tuple[type | None, list[type]]] = {
    "rd_kafka_conf_new": (_POINTER, []),
    "rd_kafka_conf_set": (_INT, [_POINTER, _TEXT, _TEXT, _TEXT, ctypes.c_size_t]),
    "rd_kafka_new": (_POINTER, [_INT, _POINTER, _TEXT, ctypes.c_size_t]),
    "rd_kafka_destroy": (None, [_POINTER]),
    "rd_kafka_mock_cluster_new": (_POINTER, [_POINTER, _INT]),
    "rd_kafka_mock_cluster_bootstraps": (_TEXT, [_POINTER]),
    "rd_kafka_mock_cluster_destroy": (None, [_POINTER]),
    "rd_kafka_mock_group_initial_rebalance_delay_ms": (None, [_POINTER, ctypes.c_int32]),
    "rd_kafka_mock_topic_create": (_INT, [_POINTER, _TEXT, _INT, _INT]),
}


class EmbeddedBroker(Broker):
    """A broker in this process, for a demo and for experiments; never for data that must be kept.

    Args:
        topics: name and number of partitions of each topic; `make_topics` adds more before anything is produced.

    Raises:
        ConfigError: the extra `embedded` is not installed, or its version was not tested -> install it.
    """

    kind: ClassVar[str] = "an embedded broker, in memory"
    cannot = (
        "keep anything when the process ends",
        "create topics on request",
        "report the settings of topics",
        "delete records",
        "store transactions",
        "show every fault of a real broker",
    )

    def __init__(self, topics: Mapping[str, int] | None = None) -> None:
        self._wanted = dict(topics or {})
        self._made: dict[str, int] = {}
        self._library: ctypes.CDLL | None = None
        self._handle = self._cluster = 0

    @property
    def address(self) -> str:
        """The address on the loopback interface, while it runs."""
        return str(self._running().rd_kafka_mock_cluster_bootstraps(self._cluster).decode())

    def start(self) -> None:
        """Start it within milliseconds, with its topics and with its retention raised."""
        if self._library is not None:
            return
        library = _load()
        error = ctypes.create_string_buffer(256)
        settings = library.rd_kafka_conf_new()
        # It logs to standard error that its own client, which is unused, was given no broker.
        library.rd_kafka_conf_set(settings, b"log_level", b"4", error, len(error))
        handle = library.rd_kafka_new(0, settings, error, len(error))
        if not handle:
            raise ConfigError(f"librdkafka did not start: {error.value.decode()}")
        self._library, self._handle = library, handle
        self._cluster = library.rd_kafka_mock_cluster_new(handle, 1)
        library.rd_kafka_mock_group_initial_rebalance_delay_ms(self._cluster, 0)  # 3 s otherwise
        self.make_topics(self._wanted)

    def stop(self) -> None:
        """Stop it; its data is gone."""
        if self._library is not None:
            self._library.rd_kafka_mock_cluster_destroy(self._cluster)
            self._library.rd_kafka_destroy(self._handle)
            self._library, self._made = None, {}

    def make_topics(self, topics: Mapping[str, int]) -> None:
        """Create topics; the only way on this broker."""
        library = self._running()
        for name, partitions in topics.items():
            if name not in self._made:
                code = library.rd_kafka_mock_topic_create(self._cluster, name.encode(), partitions, 1)
                if code:
                    raise ConfigError(f"the embedded broker cannot create {name} with {partitions} partitions: {code}")
                self._made[name] = partitions
        _raise_retention(self._cluster, self._made)

    def _running(self) -> ctypes.CDLL:
        if self._library is None:
            raise ConfigError("the embedded broker is not running: start it first")
        return self._library


def _load() -> ctypes.CDLL:
    """librdkafka, as bundled with confluent-kafka."""
    try:
        client = importlib.import_module("confluent_kafka")
    except ImportError:
        raise ConfigError(
            "the embedded broker needs confluent-kafka 2.16: pip install 'stream_lsh[embedded]'"
        ) from None
    version = str(client.__version__)
    libraries = sorted(Path(str(client.__file__)).parent.parent.glob("confluent_kafka.libs/librdkafka-*.so*"))
    if not version.startswith(_TESTED) or ctypes.sizeof(_POINTER) != 8 or not libraries:
        raise ConfigError(
            f"the embedded broker was tested with the 64-bit Linux wheels of confluent-kafka {_TESTED}x, "
            f"not with {version} here: pip install 'stream_lsh[embedded]'"
        )
    library = ctypes.CDLL(str(libraries[0]))
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


def _word(address: int) -> int:
    return ctypes.c_uint64.from_address(address).value


def _is_limit(address: int) -> bool:
    return (_word(address), _word(address + 8)) in (_LIMITS, (RETENTION_BYTES, _RETENTION_BATCHES))


def _raise_retention(cluster: int, topics: Mapping[str, int]) -> None:
    """Raise the limits of every partition of every topic, or refuse if one word is not as expected."""
    topic, seen = _word(cluster + _FIRST_TOPIC) if topics else 0, set()
    while topic:
        name = ctypes.string_at(_word(topic + 16)).decode(errors="replace")
        if name not in topics:
            raise ConfigError("this librdkafka stores its mock topics in a different layout from the tested version")
        for address in _limit_addresses(topic, topics[name]):
            ctypes.c_uint64.from_address(address).value = RETENTION_BYTES
            ctypes.c_uint64.from_address(address + 8).value = _RETENTION_BATCHES
        seen.add(name)
        topic = _word(topic)
    if seen != set(topics):
        raise ConfigError("this librdkafka lists its mock topics in a different layout from the tested version")


def _limit_addresses(topic: int, partitions: int) -> list[int]:
    """The addresses of the limits of each partition."""
    array = next(
        (
            _word(topic + offset)
            for offset in range(24, 120, 8)
            if ctypes.c_int32.from_address(topic + offset + 8).value == partitions and _word(topic + offset) > 1 << 20
        ),
        0,
    )
    starts = [offset for offset in range(0, 2048, 8) if _is_limit(array + offset)] if array else []
    first = starts[0] if starts else 0
    stride = starts[1] - first if partitions > 1 and len(starts) > 1 else 0
    addresses = [array + first + stride * number for number in range(partitions)]
    if not starts or (partitions > 1 and not stride) or not all(map(_is_limit, addresses)):
        raise ConfigError("this librdkafka stores its mock partitions in a different layout from the tested version")
    return addresses
