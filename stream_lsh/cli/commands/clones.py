"""`stream-lsh clones`: groups of similar functions in a folder of sources, renamed and edited copies among them."""

import os
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from stream_lsh.cli.options.parser import Parser, share, whole
from stream_lsh.cli.output.atomic_files import STDOUT, Output, tell
from stream_lsh.cli.output.progress import Progress
from stream_lsh.errors import ConfigError
from stream_lsh.files.discover import files_of

if TYPE_CHECKING:
    from stream_lsh.applications.duplicate_code import CodeMatch, DuplicateCode, Fragment

_EPILOG = """\
inputs:
  Files and folders.  The language is told by the ending of a name, or by --language; in folders, files of other
  endings are left alone, and so are hidden folders, node_modules and __pycache__.

Functions are compared by their tokens, without comments, names and literals by their class only.  In Python and in
languages with braces, functions are looked for; of others, files are compared as a whole, as with --files.

examples:
  stream-lsh clones src/
  stream-lsh clones src/ --threshold 0.8 --least-tokens 100
  stream-lsh clones submissions/ --files --names --json
"""
_LEFT_ALONE = frozenset({"node_modules", "__pycache__"})
_SHOWN = 5
_MOST_BYTES = 1 << 20


def run(arguments: Sequence[str]) -> int:
    """The command; returns its exit code."""
    options = _parser().parse(arguments)
    from stream_lsh.applications.duplicate_code import DuplicateCode  # noqa: PLC0415 - loads numpy and Pygments

    files = list(_sources(options))
    code = DuplicateCode(
        options.threshold,
        run=options.run,
        names=options.names,
        least_tokens=options.least_tokens,
        whole_files=options.files,
    )
    with Output(STDOUT) as out:
        rejected = _read(code, files, options)
        matches, groups = code.found()
        out.write(_groups(groups, matches, options))
        out.finish()
    if not options.quiet:
        what = "files" if options.files else "functions"
        rejects = [f"{rejected:,} files rejected"] if rejected else []
        tell([f"{len(files):,} files, {len(code):,} {what}, {len(matches):,} pairs, {len(groups):,} groups", *rejects])
    return 0


def _parser() -> Parser:
    parser = Parser("clones", "Find functions that are copies of each other, renamed and edited ones too.", _EPILOG)
    add = parser.add_argument
    add("file", nargs="+", metavar="FILE", help="file or folder")
    add("--language", metavar="NAME", help="language of all files, as Pygments calls it (default: by their endings)")
    group = parser.add_argument_group("what counts as a copy")
    add = group.add_argument
    add("--threshold", type=share, default=0.6, metavar="T", help="least similarity of a pair (default 0.6)")
    add("--run", type=whole(1), default=4, metavar="K", help="tokens in a row that are compared (default 4)")
    add("--names", action="store_true", help="names and literals count as they are")
    add("--least-tokens", type=whole(1), default=50, metavar="N", help="shorter functions are left out (default 50)")
    add("--files", action="store_true", help="compare whole files")
    group = parser.add_argument_group("output")
    add = group.add_argument
    add("--json", action="store_true", help="JSON lines, one for each group")
    parser.add_argument("--quiet", "-q", action="store_true", help="no summary, no progress, no single complaints")
    return parser


def _sources(options: Namespace) -> Iterator[tuple[str, str]]:
    """The files to read with their languages; raises ConfigError for what is not there or has no known language."""
    from stream_lsh.text.functions import LANGUAGES  # noqa: PLC0415

    problems, sources = [], list[tuple[str, str]]()
    for path in options.file:
        if os.path.isdir(path):
            for name, relative in files_of(path):
                language = options.language or LANGUAGES.get(os.path.splitext(name)[1].lower())
                if language and not any(part in _LEFT_ALONE or part[0] == "." for part in relative.split(os.sep)):
                    sources.append((name, language))
        elif not os.path.exists(path):
            problems.append(f"{path}: there is no such file or folder")
        else:
            language = options.language or LANGUAGES.get(os.path.splitext(path)[1].lower())
            if language:
                sources.append((path, language))
            else:
                problems.append(f"{path}: is of no known language: --language tells it")
    if not sources and not problems:
        problems.append(f"{', '.join(options.file)}: no sources of a known language: --language tells it")
    if problems:
        raise ConfigError(problems)
    yield from dict.fromkeys(sources)


def _read(code: "DuplicateCode", files: Iterable[tuple[str, str]], options: Namespace) -> int:
    """Take in the files; returns the number of rejected files."""
    files = list(files)
    progress = Progress(sum(os.path.getsize(path) for path, _ in files), shown=not options.quiet, what="functions")
    position = rejected = 0
    for path, language in files:
        reason = ""
        with open(path, "rb") as file:
            data = file.read(_MOST_BYTES + 1)
        if len(data) > _MOST_BYTES:
            reason = f"is larger than {_MOST_BYTES:,} bytes, which nobody has written by hand"
        elif b"\0" in data:
            reason = "is no text"
        else:
            code.add(path, data.decode("utf-8", "replace"), language)
        if reason:
            rejected += 1
            if rejected <= _SHOWN and not options.quiet:
                progress.clear()
                sys.stderr.write(f"{path}: rejected: {reason}\n")
        position += len(data)
        progress.update(position, len(code))
    progress.clear()
    return rejected


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
            f"{len(group):,} {'functions' if group[0].name else 'files'}, {similarity:.2f} alike or more",
            *(
                f"  {plain(member.path)}:{member.line}-{member.last_line} {plain(member.name)}".rstrip()
                for member in group
            ),
        ]
        for group, similarity in zip(groups, least, strict=True)
    )
