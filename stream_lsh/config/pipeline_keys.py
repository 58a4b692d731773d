"""The keys of a `[[pipeline]]` of each kind: those that every pipeline has, and those of the kind."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from stream_lsh.config.model import PipelineConfig
from stream_lsh.kinds.kind import Kind
from stream_lsh.kinds.registry import KINDS, kind_class
from stream_lsh.settings.schema import Key, keys_of

_FIRST = ("name", "kind")
_OF_ALL_TOPICS = frozenset({"keep_forever"})


def pipeline_keys(kind: type[Kind]) -> Mapping[str, Key]:
    """The keys of a pipeline of a kind, by their names: name and kind first, then those of the kind.

    Example:
        >>> from stream_lsh.kinds.vector.kind import VectorKind
        >>> keys = pipeline_keys(VectorKind)
        >>> "dimension" in keys, "threshold" in keys, sorted(keys["fields"].only or ())
        (True, False, ['deleted', 'id', 'time', 'vector'])
    """
    shared = dict(keys_of(PipelineConfig))
    for name, only in (("fields", kind.fields), ("topics", kind.topic_keys | _OF_ALL_TOPICS)):
        shared[name] = replace(shared[name], only=only)
    return {**{name: shared[name] for name in _FIRST}, **keys_of(kind), **shared}


def kinds_with(names: tuple[str, ...]) -> list[str]:
    """The kinds whose pipelines have a key, which is given by its path within the pipeline.

    Example:
        >>> kinds_with(("bands",)), kinds_with(("fields", "text")), kinds_with(("treshold",))
        (['text', 'set'], ['text'], [])
    """
    return [kind for kind in KINDS if _has(pipeline_keys(kind_class(kind)), names)]


def _has(keys: Mapping[str, Key], names: tuple[str, ...]) -> bool:
    key = keys.get(names[0])
    if key is None or len(names) == 1:
        return key is not None
    return key.table is not None and _has(key.inner(), names[1:])


def tables(kinds: Iterable[str]) -> Iterator[tuple[str, Mapping[str, Key]]]:
    """The tables of a pipeline of each kind, as the file has them, with their keys."""
    for kind in kinds:
        keys = pipeline_keys(kind_class(kind))
        yield "[pipeline]", keys
        for key in keys.values():
            if key.table is not None:
                yield f"[pipeline.{key.name}]", key.inner()
