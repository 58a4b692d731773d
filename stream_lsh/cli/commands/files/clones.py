"""`stream-lsh clones`: groups of similar functions in a folder of sources, renamed and edited copies among them."""

import os
from argparse import Namespace
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

from stream_lsh.cli.options.common import add_general, add_output, add_rejects, add_threshold
from stream_lsh.cli.options.parser import Parser, whole
from stream_lsh.cli.output.atomic_files import Output, ended, exit_code, report_lines
from stream_lsh.cli.output.outputs import check_outputs
from stream_lsh.cli.output.progress import Progress
from stream_lsh.errors import ConfigError
from stream_lsh.files.chunks import Refused
from stream_lsh.files.discover import files_of
from stream_lsh.settings.problems import problems_as_options
from stream_lsh.settings.units import counted

if TYPE_CHECKING:
    from stream_lsh.applications.duplicate_code import CodeMatch, DuplicateCode, Fragment

_EPILOG = """\
inputs:
  Files and folders.  The ending of a file name, or --language, selects the language.  Folders are searched for
  known endings, except in hidden folders, node_modules and __pycache__.

Functions are compared by their tokens, without comments; names and literals count by their class only.  Functions are
found in Python and in languages with braces; files of other languages are compared as a whole, as with --files.

examples:
  stream-lsh clones src/
  stream-lsh clones src/ --threshold 0.8 --min-tokens 100
  stream-lsh clones submissions/ --files --names --json
"""
_LEFT_ALONE = frozenset({"node_modules", "__pycache__"})
_MOST_BYTES = 1 << 20


def run(arguments: Sequence[str]) -> int:
    """The command; returns its exit code."""
    options = make_parser().parse(arguments)
    from stream_lsh.applications.duplicate_code import DuplicateCode  # noqa: PLC0415 - loads numpy and Pygments
    from stream_lsh.cli.input.batches import list_rejects, summary  # noqa: PLC0415 - loads numpy

    files = list(_sources(options))
    code = DuplicateCode(
        options.threshold,
        run=options.run,
        names=options.names,
        least_tokens=options.min_tokens,
        whole_files=options.files,
    )
    reasons = Counter[str]()
    check_outputs([options.output, options.rejects], [path for path, _ in files])
    with ExitStack() as open_things:
        if options.language:
            open_things.enter_context(problems_as_options({"shingles": "--language"}))
        out = open_things.enter_context(Output(options.output))
        rejects = open_things.enter_context(Output(options.rejects)) if options.rejects else None
        _read(code, files, options, reasons, rejects)
        matches, groups = code.found()
        out.write(_groups(groups, matches, options))
        out.finish()
        if rejects is not None:
            rejects.finish()
    rejected = summary(reasons, list_rejects(rejects))
    if not options.quiet:
        what = "file" if options.files else "function"
        found = counted(len(matches), "pair"), counted(len(groups), "group")
        report_lines([", ".join((counted(len(files), "file"), counted(len(code), what), *found))])
        report_lines(rejected)
    ending = exit_code(len(files) - reasons.total(), reasons.total(), strict=options.strict)
    return ended(ending, rejected, quiet=options.quiet)


def make_parser() -> Parser:
    """The options of the command."""
    parser = Parser(
        "clones",
        "Find functions that are copies of each other, including renamed and edited ones.",
        _EPILOG,
        first=("threshold", "min_tokens", "language", "output", "json"),
    )
    add = parser.add_argument
    add("file", nargs="+", metavar="FILE", help="file or folder")
    add("--language", metavar="NAME", help="language of all files, by its name in Pygments (default: by their endings)")
    add = parser.add_argument_group("matching").add_argument
    add_threshold(add, 0.6)
    add("--run", type=whole(1), default=4, metavar="K", help="consecutive tokens per shingle (default 4)")
    add("--names", action="store_true", help="distinguish names and literals")
    add("--min-tokens", type=whole(1), default=50, metavar="N", help="ignore shorter functions (default 50)")
    parser.renamed("--least-tokens", "--min-tokens")
    add("--files", action="store_true", help="compare whole files")
    add = parser.add_argument_group("output").add_argument
    add_output(add, "the groups")
    add("--json", action="store_true", help="JSON lines, one per group")
    add_rejects(add)
    add_general(parser)
    return parser


def _sources(options: Namespace) -> Iterator[tuple[str, str]]:
    """The files with their languages; raises ConfigError for missing files and unknown languages."""
    from stream_lsh.text.functions import LANGUAGES  # noqa: PLC0415

    problems, sources = [], list[tuple[str, str]]()
    for path in options.file:
        if os.path.isdir(path):
            for name, relative in files_of(path):
                language = options.language or LANGUAGES.get(os.path.splitext(name)[1].lower())
                if any(part in _LEFT_ALONE or part.startswith(".") for part in relative.split(os.sep)):
                    continue
                if language or os.path.isdir(name):  # a folder that cannot be listed: reading it reports the error
                    sources.append((name, language or ""))
        elif not os.path.exists(path):
            problems.append(f"{path}: there is no such file or folder")
        else:
            language = options.language or LANGUAGES.get(os.path.splitext(path)[1].lower())
            if language:
                sources.append((path, language))
            else:
                problems.append(f"{path}: has no known language: set --language")
    if not sources and not problems:
        problems.append(f"{', '.join(options.file)}: no sources of a known language: set --language")
    if problems:
        raise ConfigError(problems)
    yield from dict.fromkeys(sources)


def _read(
    code: "DuplicateCode",
    files: Iterable[tuple[str, str]],
    options: Namespace,
    reasons: Counter[str],
    rejects: Output | None,
) -> None:
    """Add the files; `reasons` counts the rejected ones."""
    from stream_lsh.cli.input.batches import reject  # noqa: PLC0415 - loads numpy

    files = list(files)
    progress = Progress(sum(os.path.getsize(path) for path, _ in files), shown=not options.quiet, what="functions")
    position = 0
    for path, language in files:
        with open(path, "rb") as file:
            data = file.read(_MOST_BYTES + 1)
        wrong: list[Refused] = []
        if len(data) > _MOST_BYTES:
            wrong = [Refused("", path, "size", f"is larger than {_MOST_BYTES:,} bytes: generated code?")]
        elif b"\0" in data:
            wrong = [Refused("", path, "binary", "is not text")]
        else:
            code.add(path, data.decode("utf-8", "replace"), language)
        reject(wrong, progress, reasons, quiet=options.quiet, rejects=rejects)
        position += len(data)
        progress.update(position, len(code))
    progress.clear()


def _groups(
    groups: "Sequence[Sequence[Fragment]]", matches: "Sequence[CodeMatch]", options: Namespace
) -> Iterator[bytes]:
    import json  # noqa: PLC0415

    from stream_lsh.cli.output.terminal import paragraphs, plain  # noqa: PLC0415

    place = {fragment: number for number, group in enumerate(groups) for fragment in group}
    least = [1.0] * len(groups)
    for match in matches:
        number = place[match.left]
        least[number] = min(least[number], match.similarity)
    if options.json:
        for group, similarity in zip(groups, least, strict=True):
            yield json.dumps({"similarity": similarity, "members": [member._asdict() for member in group]}).encode()
        return
    yield from paragraphs(
        [
            f"{len(group):,} {'functions' if group[0].name else 'files'}, similarity {similarity:.2f} or more",
            *(
                f"  {plain(member.path)}:{member.line}-{member.last_line} {plain(member.name)}".rstrip()
                for member in group
            ),
        ]
        for group, similarity in zip(groups, least, strict=True)
    )
