"""Pages of reports: one file of HTML, without scripts, light or dark as its reader has it, and printable."""

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from stream_lsh.controls import one_line

STYLE = """\
:root { color-scheme: light dark; --line: #d1d9e0; --muted: #59636e; --ground: #ffffff; --text: #1f2328;
  --mark: #ffe8a3; --raised: #f6f8fa; }
* { box-sizing: border-box; }
body { font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif; margin: 2rem auto;
  max-width: 82rem; padding: 0 1rem; background: var(--ground); color: var(--text); overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 3rem; } h3 { font-size: .95rem; margin: 1.5rem 0 .3rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top;
  font-weight: inherit; }
thead th { color: var(--muted); }
caption { text-align: left; color: var(--muted); padding-bottom: .4rem; }
td.number, th.number { text-align: right; white-space: nowrap; }
tr.threshold th { color: var(--muted); border-bottom: 2px dashed var(--muted); font-weight: 600; }
table.chart { max-width: 48rem; }
td.bar { width: 55%; vertical-align: middle; } table.rows td.bar { width: 25%; }
td.bar svg { display: block; width: 100%; }
.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(11rem, 1fr)); gap: .8rem; margin: 1rem 0; }
.facts div { background: var(--raised); border: 1px solid var(--line); border-radius: 6px; padding: .5rem .8rem; }
.facts dt { color: var(--muted); font-size: .87rem; } .facts dd { margin: 0; font-weight: 600; }
.sides { display: grid; grid-template-columns: 1fr 1fr; gap: 1.5rem; }
.sides > * { min-width: 0; }
.sides h3 { margin: 0 0 .3rem; }
.text { white-space: pre-wrap; border: 1px solid var(--line); border-radius: 6px; padding: .8rem; }
.muted, .note { color: var(--muted); }
.scroll { overflow-x: auto; }
.scroll th, .scroll td { min-width: 6rem; max-width: 22rem; }
mark { background: var(--mark); color: inherit; border-radius: 3px; padding: .05rem 0; }
@media screen and (prefers-color-scheme: dark) {
  :root { --line: #2a313c; --muted: #9198a1; --ground: #0d1117; --text: #e6edf3; --mark: #574500; --raised: #151b23; }
}
@media (min-width: 50.01rem) {
  table.steps th, table.steps .why, thead th { overflow-wrap: break-word; } table.steps td.bar { width: 42%; }
}
@media (max-width: 50rem) {
  .sides { grid-template-columns: 1fr; }
  table.rows thead, table.steps thead { display: none; }
  table.rows tr { display: block; border-bottom: 1px solid var(--line); padding: .3rem 0; }
  table.rows td { display: block; border: 0; padding: 0; text-align: left; white-space: normal; }
  table.rows td.bar { width: auto; }
  table.rows td::before { content: attr(data-label) ": "; color: var(--muted); } table.rows td:empty { display: none; }
  table.steps tr { display: grid; grid-template-columns: 1fr 1fr auto; border-bottom: 1px solid var(--line); }
  table.steps td, table.steps th { border: 0; padding-top: 0; } table.steps td:empty:not(.amount) { display: none; }
  table.steps .name { grid-column: 1 / 3; font-weight: 600; } table.steps .bar { grid-column: 1 / -1; width: 100%; }
  table.steps .amount { grid-column: 3; grid-row: 1; }
}
@media print {
  :root { --line: #b6bfc8; --muted: #444c56; --ground: #ffffff; --text: #000000; --mark: #ffe8a3; --raised: #ffffff; }
  body { margin: 0; max-width: none; font-size: 10pt; } .text { font-size: 8.5pt; }
  tr, .facts div { break-inside: avoid; } h2, h3 { break-after: avoid; }
  mark, svg { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}"""


def encoded(parts: Iterable[str]) -> Iterator[bytes]:
    """The lines of a page as UTF-8; what has no bytes in UTF-8 is replaced."""
    return (part.encode("utf-8", "replace") for part in parts)


def head(title: str, style: str = "") -> Iterator[str]:
    """The beginning of a page, up to its heading.

    Args:
        title: of the page, unescaped.
        style: further rules of CSS.
    """
    shown = escape(one_line(title))
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{shown}</title>\n<style>\n{STYLE}{style}\n</style>\n</head>\n<body>\n<main>\n<h1>{shown}</h1>"


END = "</main>\n</body>\n</html>"
"""The end of a page."""


def facts(named: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Some values with their names, both unescaped."""
    yield '<dl class="facts">'
    for name, value in named:
        yield f"<div><dt>{escape(name)}</dt><dd>{escape(one_line(value))}</dd></div>"
    yield "</dl>"


def paragraph(text: str, style: str = "") -> str:
    """A paragraph of unescaped text."""
    return f"<p{f' class={chr(34)}{style}{chr(34)}' if style else ''}>{escape(one_line(text, 2_000))}</p>"


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> Iterator[str]:
    """A table whose cells are HTML.

    Args:
        columns: names, unescaped; one that begins with "#" is of numbers, with "~" of bars.
        rows: escaped cells.
        caption: unescaped.
    """
    names = [escape(name.lstrip("#~")) for name in columns]
    styles = [{"#": ' class="number"', "~": ' class="bar"'}.get(name[:1], "") for name in columns]
    heads = "".join(f'<th scope="col"{style}>{name}</th>' for name, style in zip(names, styles, strict=True))
    yield '<table class="rows">' + (f"<caption>{escape(caption)}</caption>" if caption else "")
    yield f"<thead><tr>{heads}</tr></thead><tbody>"
    for row in rows:
        cells = (
            f'<td{style} data-label="{name}">{cell}</td>' for name, style, cell in zip(names, styles, row, strict=True)
        )
        yield f"<tr>{''.join(cells)}</tr>"
    yield "</tbody></table>"
