"""The allowed imports, the limits of the core, and the length of modules: read from the sources, not by running.

Every rule is a function from a source to its breaches.  The tests apply it to the package and to small sources that
break it, so that a rule without effect is detected.
"""

import ast
import functools
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "stream_lsh"

FOUNDATION = ("arrays", "controls", "markup", "hashing", "errors", "model", "retention", "spelling")
STEPS = ("text", "sketch", "lsh", "measure", "index", "interop", "records", "ledger", "pipeline")
KINDS = ("files", "settings", "tables", "kinds")
SURFACES = ("allpairs", "stream_lsh", "demo", "cli", "__main__")
ORDER = (
    *FOUNDATION,
    *STEPS,
    "wire",
    *KINDS,
    "config",
    "sizing",
    "figures",
    "applications",
    "frames",
    "client",
    "web",
    "worker",
    *SURFACES,
)
"""Every room, each after all that it may import; `stream_lsh` is the package's own `__init__`."""

KIND_CORE = frozenset(
    {
        "scheme", "exact_scheme", "grid_scheme", "prefix_buckets", "methods", "comparer", "content", "metric",
        "frequencies", "presets", "comparison", "explain",
    }
)  # fmt: skip
"""Modules of `kinds` that the steps call: for them the rules of the core hold."""
SHARED_KINDS = frozenset({"shingled"})
"""Folders of `kinds` that every kind may import."""

KIND_NAMES = frozenset({"text", "record", "set", "vector"})
KIND_FIELDS = frozenset({"known", "reader", "profile", "family"})
"""Settings that only some kinds have, and whose presence would reveal the kind."""
KIND_CONSTANTS = frozenset({"OF_VALUES", "GRID"})

CORE = frozenset(FOUNDATION + STEPS)
"""No clock, no environment, no chance, no files, no network: what a step needs, it is given."""

CORE_LIBRARIES = frozenset({"numpy", "mmh3"})
CORE_STANDARD = frozenset(
    {
        "abc", "array", "bisect", "collections", "dataclasses", "difflib", "enum", "functools", "heapq", "itertools",
        "math", "operator", "re", "typing", "unicodedata",
    }
)  # fmt: skip
ALSO = {
    # Escapes texts.
    **{f"stream_lsh.markup.{module}": {"html"} for module in ("bars", "page", "texts")},
    # Arrays that are reserved whole and touched as they fill: an anonymous mapping, no file.
    "stream_lsh.index.segment": {"mmap"},
    # SHA-1, as datasketch hashes its tokens.
    "stream_lsh.sketch.datasketch": {"hashlib"},
    # An optional library of its own, loaded by the first page; dates as pages write them, no clock.
    "stream_lsh.text.page": {"resiliparse", "datetime"},
    # Stemmers and lexers, optional libraries of their own, loaded by the first shingler that needs them.
    "stream_lsh.text.shinglers.stem": {"Stemmer"},
    "stream_lsh.text.shinglers.code": {"pygments"},
    # Python parses Python; what it warns of are the texts that are compared.
    "stream_lsh.text.functions": {"ast", "warnings"},
    # The listed members of a cluster, which grow as JSON.
    "stream_lsh.ledger.clusters.listed": {"json"},
    # Bytes as a text, and back.
    "stream_lsh.kinds.vector.content": {"binascii"},
    # String comparators, with the extra `records`.
    **{
        f"stream_lsh.records.compare.{module}": {"rapidfuzz"}
        for module in (
            "comparator", "dates", "edits", "person_name", "phones", "tokens",
        )
    },
    "stream_lsh.records.compare.phonetic": {"jellyfish"},
    "stream_lsh.records.libraries": {"jellyfish", "rapidfuzz"},
}  # fmt: skip
"""Additional imports of single modules of the core, with the reason."""

SEEDED = frozenset({"stream_lsh.sketch.datasketch"})
"""Modules that may use numpy's chance: the constants of datasketch's signatures are numbers of a seeded RandomState."""

NOWHERE = frozenset({"pickle", "marshal", "shelve", "dill", "cloudpickle"})
"""Bytes that run code when they are read."""
WORKER_ONLY = frozenset({"faust", "mode", "aiokafka", "kafka", "confluent_kafka", "testcontainers", "asyncio"})
LOOPS = frozenset(
    {
        *(f"stream_lsh.cli.commands.kafka.{command}" for command in ("check", "feed", "tail", "ui", "worker")),
        "stream_lsh.cli.commands.explain",
        "stream_lsh.cli.process",
        "stream_lsh.cli.runs.demo",
        "stream_lsh.client.asynchronous",
        "stream_lsh.web.changes",
        "stream_lsh.web.source",
    }
)
"""Commands that speak with Kafka or the query API: they run a loop of asyncio, and know no client of Kafka."""
TEMPLATES = frozenset({"jinja2", "markupsafe"})
"""Libraries of the pages only."""
NO_CLOCK = CORE | {"wire", "kinds", "sizing", "applications", "allpairs", "figures"}
"""The core, its forms in bytes and the library: equal input gives equal output, today and tomorrow."""
CLOCK_READERS = frozenset(
    {"stream_lsh.kinds.text.files", "stream_lsh.kinds.record.files", "stream_lsh.kinds.single_field_files"}
)
"""Readers of files, which reject times that lie ahead of the clock."""
CLOCKS_AND_CHANCE = frozenset({"time", "random", "secrets", "uuid"})
CLOCK_ATTRIBUTES = frozenset({"now", "utcnow", "today", "environ", "environb", "getenv", "urandom"})
CORE_BUILTINS = frozenset({"hash", "open", "print", "input", "exec", "eval", "compile", "__import__", "breakpoint"})
"""`hash` of a string is another number in every process."""

MOST_LINES = 400


SHARED_TESTS = "tests.evaluation"
"""The only modules of the tests that benchmarks import: corpora with their truth, measures, oracles, brokers."""


def modules(folder: Path = PACKAGE) -> dict[str, str]:
    """Every module of the package, or of another top folder, with its source."""
    found = {}
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path.read_text(encoding="utf-8")
    return found


def room_of(module: str) -> str:
    """The room of a module of the package."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else parts[0]


def is_core(module: str) -> bool:
    """Whether the rules of the core hold for a module."""
    parts = module.split(".")
    return room_of(module) in CORE or (room_of(module) == "kinds" and parts[-1] in KIND_CORE)


def has_no_clock(module: str) -> bool:
    """Whether a module may use neither clock nor chance."""
    return room_of(module) in NO_CLOCK and module not in CLOCK_READERS


@functools.cache
def nodes_of(source: str) -> tuple[ast.AST, ...]:
    """All nodes of a source, parsed once for all rules."""
    return tuple(ast.walk(ast.parse(source)))


@functools.cache
def imported(source: str) -> tuple[str, ...]:
    """Everything that a source imports, wherever in it; rooms by their full name."""
    return tuple(_imported(nodes_of(source)))


def _imported(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            if module == "stream_lsh":
                for alias in node.names:
                    yield f"stream_lsh.{alias.name}" if alias.name in ORDER else module
            else:
                yield module
                yield from (f"{module}.{alias.name}" for alias in node.names if module in {"numpy", "os"})


def wrong_direction(module: str, source: str) -> Iterator[str]:
    """Imports of rooms that come later, rooms that have no place, relative imports."""
    room = room_of(module)
    if room not in ORDER:
        yield f"{module}: the room {room} has no place in the order"
        return
    for name in imported(source):
        if name.startswith("."):
            yield f"{module}: the relative import {name} hides its room"
        elif name.split(".")[0] == "stream_lsh":
            target = room_of(name)
            if target not in ORDER:
                yield f"{module}: imports {name}, whose room has no place in the order"
            elif ORDER.index(target) > ORDER.index(room):
                yield f"{module}: imports {name}, a later room"


def other_kind(module: str, source: str) -> Iterator[str]:
    """Imports of one kind of data by another."""
    own = _kind_of(module)
    if own is None:
        return
    for name in imported(source):
        other = _kind_of(name)
        if other is not None and other != own and other not in SHARED_KINDS:
            yield f"{module}: imports {name}, another kind"


def _kind_of(module: str) -> str | None:
    """The folder of `kinds` that a module is in; None outside, and for modules that lie beside the folders."""
    parts = module.split(".")
    is_kind = parts[:2] == ["stream_lsh", "kinds"] and len(parts) > 3
    return parts[2] if is_kind else None


def wrong_libraries(module: str, source: str) -> Iterator[str]:
    """Imports from outside that a room may not have."""
    room = room_of(module)
    for name in imported(source):
        top = name.split(".")[0]
        if top in ("stream_lsh", ""):
            continue
        if top in NOWHERE:
            yield f"{module}: imports {name}, which no room may"
        if top in WORKER_ONLY and room != "worker" and not (top == "asyncio" and module in LOOPS):
            yield f"{module}: imports {name}, which is the worker's"
        if top in TEMPLATES and room != "web":
            yield f"{module}: imports {name}, which is of the pages"
        if has_no_clock(module) and (top in CLOCKS_AND_CHANCE or name == "numpy.random"):
            yield f"{module}: imports {name}, a clock or chance"
        if is_core(module) and top not in CORE_LIBRARIES | CORE_STANDARD | ALSO.get(module, set()):
            whose = "of the standard library" if top in sys.stdlib_module_names else "a library"
            yield f"{module}: imports {name}, {whose}, which the core may not"


def wrong_moment(module: str, source: str) -> Iterator[str]:
    """Imports that load the worker, and with it the stream engine, for those who do not start it."""
    if room_of(module) == "worker":
        return
    nodes = nodes_of(source)
    later = {id(node) for node in _later(nodes)}
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom) and id(node) not in later:
            for name in _imported([node]):
                if name.split(".")[:2] == ["stream_lsh", "worker"]:
                    yield f"{module}: imports {name} when it is loaded, expected it in the function that needs it"


def _later(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The nodes that do not run when the module is loaded: bodies of functions, and imports for type checkers."""
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            bodies: list[ast.stmt] = node.body
        elif isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            bodies = node.body
        else:
            continue
        for statement in bodies:
            yield from ast.walk(statement)


def impure_names(module: str, source: str) -> Iterator[str]:
    """Uses of the clock, the environment, chance and files that need no import of their own."""
    for node in nodes_of(source):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            if is_core(module) and node.id in CORE_BUILTINS:
                yield f"{module}:{node.lineno}: uses the builtin {node.id}"
        elif isinstance(node, ast.Attribute) and has_no_clock(module):
            owner = node.value.id if isinstance(node.value, ast.Name) else ""
            chance = node.attr == "random" and owner in ("np", "numpy") and module not in SEEDED
            if node.attr in CLOCK_ATTRIBUTES or chance:
                yield f"{module}:{node.lineno}: uses {owner}.{node.attr}"


def too_long(module: str, source: str) -> Iterator[str]:
    """Modules that should be two."""
    lines = len(source.splitlines())
    if lines > MOST_LINES:
        yield f"{module}: {lines} lines, expected at most {MOST_LINES}"


def kind_conditions(module: str, source: str) -> Iterator[str]:
    """Conditions on the kind of data outside `kinds`, where the object of the kind has to be asked."""
    if room_of(module) == "kinds":
        return
    for node in nodes_of(source):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            names = {text for side in sides for text in _texts(side)} & KIND_NAMES
            # `kind` alone is many things; with the name of a kind of data it is that.
            about_name = any(map(_is_kind, sides)) and (names or "kind.name" in ast.unparse(node))
            reads = any(_owned(side) in KIND_FIELDS for side in sides)
            constants = {inner.id for side in sides for inner in ast.walk(side) if isinstance(inner, ast.Name)}
            found = bool(about_name or reads or constants & KIND_CONSTANTS)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
            classes = " ".join(map(ast.unparse, node.args[1:])).replace(",", " ").replace(")", " ").split()
            found = any(name.endswith(("Scheme", "Kind", "Settings")) for name in classes)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
            found = isinstance(node.func.value, ast.Dict) and any(map(_is_kind, node.args))
        elif isinstance(node, ast.Subscript):
            found = isinstance(node.value, ast.Dict) and _is_kind(node.slice)
        elif isinstance(node, ast.Match):
            found = _is_kind(node.subject) and any(KIND_NAMES & set(_texts(case.pattern)) for case in node.cases)
        else:
            continue
        if found:
            yield f"{module}:{node.lineno}: decides by the kind of data, expected a method of `kinds.kind.Kind`"


def _texts(node: ast.AST) -> Iterator[str]:
    return (one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str))


def _is_kind(node: ast.AST) -> bool:
    """Whether an expression is `kind`, `...kind` or the name of one of these."""
    return ast.unparse(node).split(".")[-1] == "kind" or ast.unparse(node).endswith("kind.name")


def _owned(node: ast.AST) -> str:
    """An attribute of a pipeline, whatever the pipeline is called: `pipeline.known` and `self.config.known` are one."""
    parts = ast.unparse(node).split(".")
    return parts[-1] if len(parts) > 1 and parts[-2].strip("_") in ("pipeline", "config", "kind") else ""


RULES = (wrong_direction, other_kind, wrong_libraries, wrong_moment, impure_names, too_long, kind_conditions)


def breaches(module: str, source: str) -> list[str]:
    """Everything that a module does and may not."""
    return [breach for rule in RULES for breach in rule(module, source)]


def targets(source: str, known: Collection[str]) -> Iterator[str]:
    """The modules that a source imports, wherever in it, for type checkers too."""
    for node in nodes_of(source):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            within = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if name in known else str(node.module) for name in within]
        else:
            continue
        yield from (name for name in names if name in known)


def import_cycles(sources: Mapping[str, str]) -> set[frozenset[str]]:
    """The groups of modules that import each other, directly or through others; a type checker's imports count."""
    imports = {module: {*targets(source, sources)} - {module} for module, source in sources.items()}
    reached = dict[str, set[str]]()
    for module, direct in imports.items():
        seen, todo = set[str](), [*direct]
        while todo:
            one = todo.pop()
            if one not in seen:
                seen.add(one)
                todo += imports[one]
        reached[module] = seen
    return {
        frozenset(other for other in reached[module] if module in reached[other])
        for module in imports
        if module in reached[module]
    }


def test_no_modules_import_each_other() -> None:
    for folder in ("stream_lsh", "benchmarks", "tests"):
        assert import_cycles(modules(PACKAGE.parent / folder)) == set()


@pytest.mark.parametrize(
    ("sources", "cycle"),
    [
        (["import p.b", "import p.a"], "ab"),
        (["from p.b import x", "from p import a"], "ab"),
        (["from p.b import x", "def f():\n    from p.a import y"], "ab"),
        (["from p.b import x", "if TYPE_CHECKING:\n    from p.a import y"], "ab"),
        (["import p.b", "import p.c", "from p.a import x", "import p.a"], "abc"),
    ],
)
def test_a_cycle_is_found(sources: list[str], cycle: str) -> None:
    named = {f"p.{letter}": source for letter, source in zip("abcd", sources, strict=False)}
    assert import_cycles(named) == {frozenset(f"p.{letter}" for letter in cycle)}


def test_modules_that_only_share_imports_are_no_cycle() -> None:
    assert import_cycles({"p.a": "import p.b, p.c", "p.b": "import p.c", "p.c": "import os, p.d"}) == set()


def wrong_folder(module: str, source: str) -> Iterator[str]:
    """Imports of another top folder: benchmarks may import `tests.evaluation`, and everything the package."""
    own = module.split(".", maxsplit=1)[0]
    for name in imported(source):
        top = name.split(".")[0]
        shared = own == "benchmarks" and f"{name}.".startswith(f"{SHARED_TESTS}.")
        if top in {"tests", "benchmarks"} and top != own and not shared:
            yield f"{module}: imports {name}"


def test_top_folders_import_each_other_in_one_direction_only() -> None:
    for folder in ("stream_lsh", "benchmarks", "tests"):
        for module, source in modules(PACKAGE.parent / folder).items():
            assert list(wrong_folder(module, source)) == []


def test_an_import_of_the_wrong_folder_is_found() -> None:
    assert list(wrong_folder("tests.unit.test_x", "from benchmarks.records.linking import rows"))
    assert list(wrong_folder("benchmarks.records.linking", "from tests.kafka.harness import read"))
    assert list(wrong_folder("stream_lsh.model", "import tests.evaluation.oracles"))
    assert not list(wrong_folder("benchmarks.records.linking", "from tests.evaluation.oracles import jaccard"))


def test_the_package_keeps_all_rules() -> None:
    assert [breach for module, source in modules().items() for breach in breaches(module, source)] == []


def test_the_package_was_read() -> None:
    found = modules()
    rooms = {room_of(module) for module in found}
    assert rooms >= CORE | {
        "wire",
        "config",
        "worker",
        "cli",
        "kinds",
        "stream_lsh",
        "__main__",
    }
    assert rooms <= set(ORDER)
    assert sum("stream_lsh." in source for source in found.values()) > 50
    assert set(ALSO) | LOOPS | SEEDED | CLOCK_READERS <= set(found), "an exception for a module that is gone"


def test_every_step_is_in_a_room_of_its_own_place() -> None:
    assert len(set(ORDER)) == len(ORDER)
    assert set(CORE) < set(ORDER)


@pytest.mark.parametrize(
    ("module", "source", "breach"),
    [
        ("stream_lsh.text.shinglers.char", "from stream_lsh.sketch.scheme import EMPTY_SLOT", "a later room"),
        ("stream_lsh.text.shinglers.char", "import stream_lsh.pipeline.sign", "a later room"),
        ("stream_lsh.text.shinglers.char", "from stream_lsh import pipeline", "a later room"),
        ("stream_lsh.text.shinglers.char", "from stream_lsh import NearDuplicates", "a later room"),
        ("stream_lsh.ledger.graph.graph", "def f():\n    from stream_lsh.wire import frames", "a later room"),
        ("stream_lsh.wire.frames", "if TYPE_CHECKING:\n    from stream_lsh.cli.main import main", "a later room"),
        ("stream_lsh.kinds.text.in_memory", "from stream_lsh.cli.main import main", "a later room"),
        ("stream_lsh.kinds.set.scheme", "from stream_lsh.kinds.vector.metric import VectorMeasure", "another kind"),
        ("stream_lsh.kinds.vector.scheme", "import time", "which the core may not"),
        ("stream_lsh.text.shinglers.char", "from . import groups", "relative import"),
        ("stream_lsh.text.shinglers.char", "from stream_lsh.attic import old", "no place in the order"),
        ("stream_lsh.attic.old", "", "no place in the order"),
        ("stream_lsh.pipeline.sign", "import faust", "which is the worker's"),
        ("stream_lsh.cli.commands.files.dedup", "import asyncio", "which is the worker's"),
        ("stream_lsh.cli.commands.kafka.worker", "import faust", "which is the worker's"),
        (
            "stream_lsh.cli.commands.kafka.feed",
            "def run():\n    from aiokafka import AIOKafkaProducer",
            "which is the worker's",
        ),
        (
            "stream_lsh.cli.commands.kafka.tail",
            "from stream_lsh.worker.clients.tail import messages",
            "when it is loaded",
        ),
        ("stream_lsh.cli.commands.kafka.tail", "import stream_lsh.worker.clients.tail", "when it is loaded"),
        ("stream_lsh.cli.main", "from stream_lsh import worker", "when it is loaded"),
        (
            "stream_lsh.cli.main",
            "try:\n    import stream_lsh.worker\nexcept ImportError:\n    pass",
            "when it is loaded",
        ),
        ("stream_lsh.cli.main", "if not TYPE_CHECKING:\n    import stream_lsh.worker", "when it is loaded"),
        (
            "stream_lsh.cli.main",
            "if TYPE_CHECKING:\n    x = 1\nelse:\n    import stream_lsh.worker",
            "when it is loaded",
        ),
        ("stream_lsh.config.model", "def f():\n    from stream_lsh.worker import tables", "a later room"),
        ("stream_lsh.web.rendering", "import stream_lsh.worker.query.api", "a later room"),
        ("stream_lsh.web.pages.overview", "import asyncio", "which is the worker's"),
        ("stream_lsh.worker.monitoring.web", "def f():\n    import jinja2", "which is of the pages"),
        ("stream_lsh.cli.commands.files.dedup", "from pickle import loads", "which no room may"),
        ("stream_lsh.worker.agents.pipeline_agents", "import pickle", "which no room may"),
        ("stream_lsh.ledger.ledger", "import time", "a clock or chance"),
        ("stream_lsh.kinds.text.messages", "from time import time", "a clock or chance"),
        ("stream_lsh.kinds.text.in_memory", "import random", "a clock or chance"),
        ("stream_lsh.sketch.classic", "from numpy import random", "a clock or chance"),
        ("stream_lsh.sketch.classic", "import numpy.random", "a clock or chance"),
        ("stream_lsh.pipeline.sign", "from datetime import datetime", "of the standard library"),
        ("stream_lsh.pipeline.sign", "import os", "of the standard library"),
        ("stream_lsh.text.catalog", "from importlib import import_module", "of the standard library"),
        ("stream_lsh.index.table", "import mmap", "of the standard library"),
        ("stream_lsh.measure.jaccard", "import scipy.sparse", "a library"),
        ("stream_lsh.kinds.text.messages", "moment = datetime.now(UTC)", "uses datetime.now"),
        ("stream_lsh.kinds.text.in_memory", "import os\nhome = os.environ['HOME']", "uses os.environ"),
        ("stream_lsh.sketch.classic", "import numpy as np\nx = np.random.default_rng()", "uses np.random"),
        ("stream_lsh.ledger.state", "slot = hash(id) % 8", "the builtin hash"),
        ("stream_lsh.text.hashing.tokens", "order = sorted(words, key=hash)", "the builtin hash"),
        ("stream_lsh.retention", "open('state')", "the builtin open"),
        ("stream_lsh.model", "\n" * 401, "401 lines"),
        ("stream_lsh.worker.state.pipeline_state", 'if pipeline.kind == "text":\n    pass', "decides by the kind"),
        ("stream_lsh.worker.state.pipeline_state", 'if config.kind.name != "record":\n    pass', "decides by the kind"),
        ("stream_lsh.config.topics", 'x = 1 if self.kind in ("set", "vector") else 2', "decides by the kind"),
        ("stream_lsh.config.checks", "if self.kind.name == other:\n    pass", "decides by the kind"),
        ("stream_lsh.worker.topology", "if state.config.known is not None:\n    pass", "decides by the kind"),
        ("stream_lsh.config.checks", "if pipeline.family == GRID:\n    pass", "decides by the kind"),
        ("stream_lsh.cli.commands.kafka.feed", "x = kind in OF_VALUES", "decides by the kind"),
        ("stream_lsh.cli.commands.kafka.tail", "x = isinstance(scheme, (VectorScheme, int))", "decides by the kind"),
        ("stream_lsh.cli.commands.kafka.tail", "x = isinstance(one, kinds.RecordKind)", "decides by the kind"),
        ("stream_lsh.cli.commands.kafka.feed", 'x = {"set": 1}.get(pipeline.kind.name, 2)', "decides by the kind"),
        ("stream_lsh.cli.commands.kafka.feed", 'x = {"set": 1}[pipeline.kind]', "decides by the kind"),
        (
            "stream_lsh.cli.commands.kafka.feed",
            'match pipeline.kind.name:\n    case "set" | "vector":\n        pass',
            "decides by the kind",
        ),
    ],
)
def test_a_breach_is_found(module: str, source: str, breach: str) -> None:
    assert [found for found in breaches(module, source) if breach in found]


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("stream_lsh.pipeline.sign", "import numpy as np\nfrom stream_lsh.text.catalog import shingler"),
        ("stream_lsh.kinds.set.scheme", "from stream_lsh.kinds.shingled.scheme import TextScheme"),
        ("stream_lsh.kinds.explain", "from stream_lsh.kinds.vector.scheme import VectorScheme"),
        ("stream_lsh.index.segment", "from mmap import mmap"),
        ("stream_lsh.wire.frames", "import json\nimport msgspec\nfrom stream_lsh.ledger.changes import PairState"),
        ("stream_lsh.worker.agents.pipeline_agents", "import asyncio\nimport faust\nimport time\nprint(hash('a'))"),
        ("stream_lsh.worker.engine.app", "from stream_lsh.worker.engine.membership.fence import ZombieFence"),
        (
            "stream_lsh.cli.commands.kafka.feed",
            "import asyncio\ndef run():\n    from stream_lsh.worker.clients.producer import Feeder",
        ),
        (
            "stream_lsh.cli.commands.kafka.feed",
            "if TYPE_CHECKING:\n    from stream_lsh.worker.clients.producer import Feeder",
        ),
        ("stream_lsh.cli.main", "import time\nfrom stream_lsh import __version__\nfrom stream_lsh.demo import stories"),
        ("stream_lsh.text.hashing.groups", "def shown(hash: int) -> None: ...\n"),
        ("stream_lsh.model", "x = 1\n" * 400),
        ("stream_lsh.kinds.set.settings", "if self.family == GRID:\n    pass"),
        ("stream_lsh.wire.layout", 'if kind not in sections or kind == "AND":\n    pass'),
        ("stream_lsh.cli.commands.kafka.tail", 'if options.kind == "clusters":\n    pass'),
        ("stream_lsh.ledger.decisions", "if known is not None:\n    pass"),
    ],
)
def test_allowed_sources_have_no_breach(module: str, source: str) -> None:
    assert breaches(module, source) == []
