"""The kinds of data, by name: one line each with its module and class, which is imported on first use."""

from importlib import import_module

from stream_lsh.errors import InvariantError
from stream_lsh.kinds.kind import Kind

KINDS: dict[str, str] = {
    "text": "stream_lsh.kinds.text.kind:TextKind",
    "record": "stream_lsh.kinds.record.kind:RecordKind",
    "set": "stream_lsh.kinds.set.kind:SetKind",
    "vector": "stream_lsh.kinds.vector.kind:VectorKind",
}


def kind_class(name: str) -> type[Kind]:
    """The class of a kind.

    Example:
        >>> kind_class("vector").plural
        'vectors'
    """
    if name not in KINDS:
        raise InvariantError(f"got the kind {name!r}, expected one of {', '.join(KINDS)}")
    module, _, attribute = KINDS[name].partition(":")
    cls: type[Kind] = getattr(import_module(module), attribute)
    return cls
