"""Near-duplicate documents and matching records, found while they stream through Kafka.

    NearDuplicates      the same core in memory: add, update, remove, query
    deduplicate         a frame or a list of dicts without near-duplicates
    link                a frame or a list of dicts with the entity of each record, or its golden records
    Document            one text with an id and an event time
    Match, Cluster      results for texts
    SimilarSets         the same for sets of items, bags, and fingerprints
    NearestNeighbours   the same for vectors: all within a distance
    Neighbour, NeighbourPair  results for vectors
    Story               the summary of a cluster
    PartialCopies       texts that share passages, even short ones
    DuplicateCode       functions that are copies of each other, including renamed and edited ones
    RecordLinker        the same for records: add, update, remove, search, entities
    Record              named fields with an id, a source and an event time
    RecordMatch, Entity results for records
    Guards              against clusters that chain dissimilar documents together
    Client, AsyncClient queries to the workers of a running stream
    StreamLSHError      the root of the errors, see `stream_lsh.errors`

Names are imported at their first use, so that the command line starts without loading unused modules.
"""

from importlib import import_module

TYPE_CHECKING = False  # type checkers take it for true; loading `typing` takes longer than all the rest of this module
if TYPE_CHECKING:
    from stream_lsh.applications.duplicate_code import CodeMatch, DuplicateCode, Fragment
    from stream_lsh.applications.partial_copies import PartialCopies, PartialCopy
    from stream_lsh.client.asynchronous import AsyncClient
    from stream_lsh.client.synchronous import Client
    from stream_lsh.errors import (
        ConfigError,
        DamagedBytes,
        DoubtError,
        FingerprintMismatch,
        FutureFormat,
        InputError,
        InvariantError,
        MalformedMessage,
        NotAvailable,
        QueryError,
        StateError,
        StreamLSHError,
        UnknownId,
        UnusableDocument,
    )
    from stream_lsh.frames import deduplicate, link
    from stream_lsh.kinds.record.in_memory import RecordLinker
    from stream_lsh.kinds.set.in_memory import SimilarSets
    from stream_lsh.kinds.text.in_memory import NearDuplicates
    from stream_lsh.kinds.vector.in_memory import NearestNeighbours
    from stream_lsh.ledger.clusters.guards.choice import Guards
    from stream_lsh.model import About, Cluster, Document, Match, Neighbour, NeighbourPair, Similar, Story
    from stream_lsh.records.model import Entity, Record, RecordMatch, SimilarRecord

__all__ = [
    "About",
    "AsyncClient",
    "Client",
    "Cluster",
    "CodeMatch",
    "ConfigError",
    "DamagedBytes",
    "Document",
    "DoubtError",
    "DuplicateCode",
    "Entity",
    "FingerprintMismatch",
    "Fragment",
    "FutureFormat",
    "Guards",
    "InputError",
    "InvariantError",
    "MalformedMessage",
    "Match",
    "NearDuplicates",
    "NearestNeighbours",
    "Neighbour",
    "NeighbourPair",
    "NotAvailable",
    "PartialCopies",
    "PartialCopy",
    "QueryError",
    "Record",
    "RecordLinker",
    "RecordMatch",
    "Similar",
    "SimilarRecord",
    "SimilarSets",
    "StateError",
    "Story",
    "StreamLSHError",
    "UnknownId",
    "UnusableDocument",
    "deduplicate",
    "link",
]

__version__ = "0.1.0"

_HOME = {
    "About": "model",
    "AsyncClient": "client.asynchronous",
    "Client": "client.synchronous",
    "Cluster": "model",
    "CodeMatch": "applications.duplicate_code",
    "Document": "model",
    "DuplicateCode": "applications.duplicate_code",
    "Entity": "records.model",
    "Fragment": "applications.duplicate_code",
    "Guards": "ledger.clusters.guards.choice",
    "Match": "model",
    "NearDuplicates": "kinds.text.in_memory",
    "NearestNeighbours": "kinds.vector.in_memory",
    "Neighbour": "model",
    "NeighbourPair": "model",
    "PartialCopies": "applications.partial_copies",
    "PartialCopy": "applications.partial_copies",
    "Record": "records.model",
    "RecordLinker": "kinds.record.in_memory",
    "RecordMatch": "records.model",
    "Similar": "model",
    "SimilarRecord": "records.model",
    "SimilarSets": "kinds.set.in_memory",
    "Story": "model",
    "deduplicate": "frames",
    "link": "frames",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{_HOME.get(name, 'errors')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
