"""Texts that attack a page that shows them: none may run, leave its place or widen the page."""

_MARKS = "".join(map(chr, range(0x300, 0x334)))

HOSTILE = (
    "<script>window.owned=1</script>",
    "</title><img src=x onerror=window.owned=1>",
    '" onmouseover="window.owned=1',
    "' autofocus onfocus='window.owned=1",
    "</textarea></table><svg onload=window.owned=1>",
    "{{7*7}}",
    "{% raw %}",
    "javascript:window.owned=1",
    "data:text/html,<script>window.owned=1</script>",
    "<base href=//evil.example>",
    "<meta http-equiv=refresh content=0;url=//evil.example>",
    "__proto__",
    "<b style=position:fixed;inset:0>over</b>",
    "</style><style>*{background:url(//evil.example)}",
    f"a{_MARKS * 10}",
    "\N{ARABIC LIGATURE BISMILLAH AR-RAHMAN AR-RAHEEM}" * 40,
    "contents",
    "standing",
    "left\u202eright",
    "\u2066 without end",
    "line\u2028separator",
    "nul\x00 escape\x1b[31m",
    "half \udc80 surrogate",
    "עברית מעורבת with English",
    "a family \U0001f468\u200d\U0001f469\u200d\U0001f467",
    "漢字" * 500,
    "W" * 3000,
    "i" * 1024,
    "a/b?c#d%2F..",
    "..",
    "two\nlines",
    "Case",
    "case",
)
PASTED = "\n".join(one for one in HOSTILE if "\x00" not in one and "\udc80" not in one)
"""All that a reader can paste into a field."""
