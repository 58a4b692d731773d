"""The environment variables that override keys.

    STREAM_LSH__KAFKA__BROKERS                      [kafka] brokers
    STREAM_LSH__PIPELINE__NEWS_EN__FIELDS__TEXT     [pipeline.fields] text of the pipeline news-en

Case does not matter behind the prefix, and in a pipeline's name `-`, `.` and `_` are the same.
"""

from collections.abc import Iterator, Mapping, Sequence

from stream_lsh.config.kafka import KafkaConfig
from stream_lsh.config.model import PipelineConfig
from stream_lsh.config.worker import WorkerConfig
from stream_lsh.kinds.registry import KINDS, kind_class
from stream_lsh.settings.schema import keys_of
from stream_lsh.settings.toml import Path
from stream_lsh.spelling import resembling

PREFIX = "STREAM_LSH__"
"""The prefix of all environment variables of stream_lsh."""


def folded(name: str) -> str:
    """The name of a pipeline in environment variables.

    Example:
        >>> folded("news-en.EU")
        'NEWS_EN_EU'
    """
    return name.replace("-", "_").replace(".", "_").upper()


def overrides(environ: Mapping[str, str], pipelines: Sequence[str]) -> tuple[dict[Path, str], list[str]]:
    """The variables that are ours.

    Args:
        environ: the environment.
        pipelines: the names that the file gives.

    Returns:
        path of a key to the name of its variable, and what is wrong with the others.
    """
    valid = dict(_variables("KAFKA", KafkaConfig, ("kafka",)))
    valid |= _variables("WORKER", WorkerConfig, ("worker",))
    for number, name in enumerate(pipelines):
        classes: list[type] = [PipelineConfig, *map(kind_class, KINDS)]
        for cls in classes:  # the kind may come from a variable itself
            valid |= _variables(f"PIPELINE__{folded(name)}", cls, ("pipeline", number))
    values: dict[Path, str] = {}
    problems = []
    for variable in sorted(name for name in environ if name.startswith(PREFIX)):
        path = valid.get(variable.removeprefix(PREFIX).upper())
        if path is None:
            problems.append(f"{_shown(variable)}: got a variable that overrides nothing{_hint(variable, valid)}")
        elif path in values:
            problems.append(f"{_shown(variable)}: got it and {values[path]}, which is the same; expected one of them")
        else:
            values[path] = variable
    return values, problems


def _variables(start: str, cls: type, path: Path) -> Iterator[tuple[str, Path]]:
    for key in keys_of(cls).values():
        name, at = f"{start}__{key.name.upper()}", (*path, key.name)
        if key.table is None:
            yield name, at
        else:
            yield from _variables(name, key.table, at)


def _hint(variable: str, valid: Mapping[str, Path]) -> str:
    similar = resembling(variable.removeprefix(PREFIX), valid)
    return f"; did you mean {PREFIX}{similar}?" if similar else ""


def _shown(variable: str) -> str:
    return variable if variable.isprintable() and variable.isascii() else ascii(variable)
