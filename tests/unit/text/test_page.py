"""HTML to text: the article, all visible text, the metadata of a page; and pages that were made to break it."""

import subprocess
import sys
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from html.entities import html5
from itertools import chain, repeat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_lsh import ConfigError
from stream_lsh.text import page as page_module
from stream_lsh.text.page import Page, read_page
from stream_lsh.text.page_source import MOST_ATTRIBUTES, MOST_NAMES, MOST_ROOTS, parseable
from tests.pages import PAGES, MadePage
from tests.patience import PATIENCE

N = 20_000
every_page = pytest.mark.parametrize("made", PAGES, ids=lambda made: made.name)


def in_order(passages: tuple[str, ...], text: str) -> bool:
    places = [text.find(" ".join(one.split())) for one in passages]
    return -1 not in places and places == sorted(places)


# -- reading


@every_page
def test_the_main_text_has_the_whole_article_and_nothing_unseen(made: MadePage) -> None:
    text = read_page(made.html).text
    assert in_order(made.article, text)
    assert [one for one in made.unseen if one in text] == []


@every_page
def test_the_main_text_is_without_what_stands_around_it(made: MadePage) -> None:
    text = read_page(made.html).text
    known = {"About the baker", "Share this"}  # left by the heuristic
    assert [one for one in made.around if one in text and one not in known] == []


@every_page
def test_the_page_has_all_that_is_seen_and_nothing_unseen(made: MadePage) -> None:
    text = read_page(made.html, "page").text
    assert [one for one in (*made.article, *made.around) if " ".join(one.split()) not in text] == []
    assert [one for one in made.unseen if one in text] == []


def test_a_page_has_its_title_site_time_and_address() -> None:
    assert read_page(PAGES[0].html)._replace(text="") == Page(
        "Market under water after a night of rain",
        "",
        "The Weir Courier",
        1_772_602_200_000,
        "https://courier.example/2026/03/market-under-water",
    )


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title> A\n b </title><h1>H</h1>", "A b"),
        ("<title> </title><h1>The <b>head</b></h1>", "The head"),
        ("<meta property='OG:Title' content='Fish &amp; chips'><title>T</title>", "Fish & chips"),
        ("<meta property='og:title' content=' '><title>T</title>", "T"),
        ("<svg><title>Icon</title></svg>", ""),
        ("", ""),
    ],
)
def test_the_title_is_the_first_that_is_not_empty(html: str, title: str) -> None:
    assert read_page(html).title == title


@pytest.mark.parametrize(
    ("value", "published_ms"),
    [
        ("1970-01-01T00:00:01Z", 1000),
        ("1970-01-01T00:01Z", 60_000),
        ("1970-01-01T01:00:00.5+01:00", 500),
        ("1969-12-31T23:59:59Z", -1000),
        ("9999-12-31T23:59:59-23:59", 253_402_387_139_000),
        ("0001-01-01T00:00:00+23:59", -62_135_683_140_000),
        ("2026-03-04T06:30:00", None),
        ("2026-03-04", None),
        ("yesterday", None),
        ("9" * 5000, None),
        ("", None),
    ],
)
def test_a_time_counts_if_it_is_one_moment(value: str, published_ms: int | None) -> None:
    assert read_page(f"<meta property='article:published_time' content='{value}'>").published_ms == published_ms
    assert read_page(f"<p><time itemprop=datePublished datetime='{value}'>then</time>").published_ms == published_ms


@pytest.mark.parametrize(
    ("html", "url"),
    [
        ("<link rel='alternate canonical' href=' HTTPS://a.example/x '>", "HTTPS://a.example/x"),
        ("<meta property=og:url content=http://a.example/y>", "http://a.example/y"),
        ("<link rel=canonical href=/x>", ""),
        ("<link rel=canonical href='javascript:x'>", ""),
        ("<link rel=stylesheet href=http://a.example/s>", ""),
    ],
)
def test_the_address_is_absolute_and_of_the_web(html: str, url: str) -> None:
    assert read_page(html).url == url


def test_hidden_parts_are_not_read() -> None:
    html = (
        "<p hidden>one</p><p style='color:red;DISPLAY:none'>two</p><p style='display: none'>three</p>"
        "<dialog>four</dialog><img src=x alt=ten>"
        "<noscript>five</noscript><template>six</template><style>seven</style><!-- eight -->"
        "<p>seen &lt;<b>b</b>&gt; &amp; <![CDATA[nine]]>x&nbsp;y</p>"
    )
    html = "<body><p>first</p>" + html
    assert read_page(html).text == read_page(html, "page").text == "first seen <b> & x y"


# -- where nothing is found


@pytest.mark.parametrize(
    "html",
    [
        "<nav><a href=/>All pages</a> of this site</nav>",
        "<footer>Only a footer</footer>",
        "<body class=hidden><div class=comments>Only what others say</div>",
    ],
)
def test_where_the_heuristic_finds_nothing_the_text_is_that_of_the_page(html: str) -> None:
    assert read_page(html).text == read_page(html, "page").text != ""


def test_deep_pages_have_the_text_of_the_page() -> None:
    inner = "<nav>Menu of the day</nav><p>It rained on the old bridge all night.</p>"
    shallow, deep = ("<div>" * depth + inner + "</div>" * depth for depth in (200, 300))
    assert read_page(shallow).text == "It rained on the old bridge all night."
    assert read_page(deep).text == "Menu of the day It rained on the old bridge all night."


@pytest.mark.parametrize("html", ["", " \n", "<script>render()</script>", "<div id=app></div>", "<!-- x -->", b""])
def test_a_page_with_nothing_to_read_has_no_text(html: str | bytes) -> None:
    assert read_page(html) == read_page(html, "page") == Page("", "")


def test_a_text_without_tags_is_itself() -> None:
    text = "Rain < 3 mm & wind > 5 knots. \N{DROPLET} خبر عاجل 速報"
    assert read_page(text).text == read_page(text, "page").text == text


# -- bytes


@pytest.mark.parametrize(
    ("encoding", "head"),
    [
        ("utf-8-sig", "<meta charset=latin1>"),
        ("utf-16", "<meta charset=latin1>"),
        ("utf-8", ""),
        ("utf-8", "<meta charset=nonsense>"),
        ("utf-8", "<meta charset=zlib>"),
        ("utf-8", "<meta charset=utf-16>"),
        ("utf-8", "<!-- <meta charset=koi8-r> -->"),
        ("cp1252", ""),
        ("cp1252", "<meta charset=iso-8859-1>"),
        ("cp1252", "<meta http-equiv=Content-Type content='text/html; charset=windows-1252'>"),
        ("cp1252", "<?xml version='1.0' encoding='latin1'?>"),
    ],
)
def test_bytes_are_read_in_their_encoding(encoding: str, head: str) -> None:
    html = f"{head}<p>Caf\xe9 \u2013 \u20ac 3 na\xefve</p>"
    assert read_page(html.encode(encoding)).text == "Caf\xe9 \u2013 \u20ac 3 na\xefve"


@pytest.mark.parametrize(
    ("encoding", "declared", "text"),
    [
        ("cp932", "Shift_JIS", "速報 \u2460 \u9ad9"),
        ("gb18030", "gb2312", "消息 \U00020000"),
        ("cp949", "euc-kr", "속보 똠"),
        ("big5", "big5", "新聞"),
        ("koi8-r", "KOI8-R", "новости"),
        ("cp1255", "windows-1255", "חדשות"),
        ("cp874", "tis-620", "ข่าว \u2026"),
    ],
)
def test_encodings_of_the_web_have_their_wider_meaning(encoding: str, declared: str, text: str) -> None:
    assert read_page(f"<meta charset='{declared}'><p>{text}</p>".encode(encoding)).text == text


def test_a_wrong_encoding_spoils_characters_and_not_the_page() -> None:
    assert read_page(b"<meta charset=utf-8><p>caf\xe9 open</p>").text == "caf\ufffd open"
    assert read_page(b"<meta charset=shift_jis><p>caf\xe9</p> open").text.endswith("open")


def test_surrogates_are_joined_or_replaced() -> None:
    assert read_page("<p>a \ud83d\ude00 b \ud800 c</p>").text == "a \N{GRINNING FACE} b \ufffd c"


def test_a_byte_order_mark_of_a_text_is_no_text() -> None:
    assert read_page("\ufeff<p>one</p>").text == "one"


# -- hostile pages

HOSTILE = {
    "divs": "<div>" * N,
    "divs with text": "<div>x" * N + "</div>" * N,
    "less than": "<" * N,
    "tags begun": "<a" * N,
    "unclosed tags": "<p><b><i><a>x" * N,
    "misnested tags": "<a><b><p></a>x" * N,
    "unclosed attribute": '<a href="' + "x" * N,
    "gigantic attribute": f'<p title="{"x" * 50 * N}">words</p>',
    "tables": "<table><tr><td>x" * N,
    "lists": "<ul><li>x" * N,
    "articles": "<article>x" * N,
    "nul": "a\0b<p>\0" * N,
    "comments": "<!--" * N,
    "cdata": "<![CDATA[" * N,
    "entities": "&#55296;&#0;&#1114112;&amp&nonsense;&" * N,
    "scripts": "<script><!--<script>" * N,
    "templates": "<svg><template>\n" * N,
    "frames": "<frameset><frame>" * N,
    "controls": "<p>\x01\x7f\x85\ufffe\uffff" * N,
    "right to left": "<p dir=rtl>\u202eשלום" * N,
    "marks": "<p>a" + "\u0301" * N,
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("mode", ["main", "page"])
def test_hostile_pages_are_read(name: str, mode: page_module.Mode) -> None:
    html = HOSTILE[name]
    read = read_page(html, mode)
    assert read == read_page(html.encode(), mode)
    assert len(read.text) <= len(html) * 3  # a NUL or a broken reference can become more than it was
    read.text.encode()


def test_lists_in_lists_take_no_more_memory_than_a_page_of_their_length() -> None:
    html = "<ul><li>x" * 5000
    tracemalloc.start()
    try:
        read_page(html, "page")
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 50 * len(html)


PARTS = [
    *"< > </ = / ' \" & ; #x div p a é <!-- --> <table> <svg> <title> <script> </script>".split(),
    " ",
    "\0",
    "\ud800",
]


@given(st.lists(st.sampled_from(PARTS)))
def test_no_page_raises(parts: list[str]) -> None:
    html = "".join(parts)
    for mode in ("main", "page"):
        read = read_page(html, mode)
        assert read == read_page(html, mode)
        assert not read_page(html, "page").text or read.text


@given(
    st.binary(max_size=200), st.sampled_from([b"", b"\xff\xfe", b"\xfe\xff", b"<meta charset=gbk>", b"<meta charset="])
)
def test_no_bytes_raise(rest: bytes, start: bytes) -> None:
    text = read_page(start + rest).text
    assert text.encode().decode() == text


LADEN = {
    "attributes": "<p" + "".join(f" a{n}" for n in range(MOST_ATTRIBUTES + 1)) + ">w",
    "attributes with quoted ends": "<p" + "".join(f" a{n}='>'" for n in range(MOST_ATTRIBUTES + 1)) + ">w",
    "attributes glued": "<p " + "".join(f'a{n}=""' for n in range(MOST_ATTRIBUTES + 1)) + ">w",
    "attributes behind a comment": '<!-- <p a=" --><p' + " a" * (MOST_ATTRIBUTES + 1) + '">w',
    "attributes of an end": "</p" + "".join(f" a{n}" for n in range(MOST_ATTRIBUTES + 1)) + ">w",
    "names": "".join(f"<xy{n}>w" for n in range(MOST_NAMES + 1)),
    "names of attributes": "".join(f"<p a{n}>w" for n in range(MOST_NAMES + 1)),
    "roots": "".join(f"<html a{n}>w" for n in range(MOST_ROOTS + 1)),
    "tags within tags": "<b a=\"<b a='" * N,
}


@pytest.mark.parametrize("name", LADEN)
def test_pages_that_a_parser_takes_long_for_lose_their_tags(name: str) -> None:
    bare = parseable(LADEN[name])
    assert "<p" not in bare
    assert "<x" not in bare
    assert "<html" not in bare
    assert "<b" not in bare
    assert parseable(bare) == bare
    assert ("w" in read_page(LADEN[name]).text) == ("w" in LADEN[name])


@pytest.mark.parametrize(
    "html",
    [
        *(made.html for made in PAGES),
        "<p" + "".join(f" a{n}" for n in range(MOST_ATTRIBUTES - 1)) + ">w",
        "<p>" + "words here " * N,
        f'<img src="data:image/png;base64,{"A" * N}">' * 3,
        '<li class="x y"><a href="/a">a</a></li>' * N,
    ],
)
def test_ordinary_pages_are_parsed_as_they_are(html: str) -> None:
    assert parseable(html) is html


def test_a_page_with_a_script_that_looks_like_tags_keeps_its_tags() -> None:
    script = "for(i=0;i<b.length;i++){if(a<c)d()}" * 3000
    html = f"<script>{script}</script><nav>Menu</nav><p>It rained all night.</p><SCRIPT src=x>{script}"
    assert parseable(html) == "<script></script><nav>Menu</nav><p>It rained all night.</p><script></script"
    assert read_page(html).text == "It rained all night."


EXPANDING = """
import random
from stream_lsh.text.page import read_page
references = "".join(random.Random(1).choices(("&nGt;", "&nLt;", " "), k=100_000))
for mode in ("page", "main"):
    text = read_page(f"<p title='{references}'>{references}", mode).text
    assert text == " ".join(references.replace("&nGt;", "\\u226b\\u20d2").replace("&nLt;", "\\u226a\\u20d2").split())
"""


def test_references_that_are_longer_as_characters_crash_no_parser() -> None:
    subprocess.run([sys.executable, "-c", EXPANDING], check=True, timeout=PATIENCE)  # noqa: S603 - our own
    longer = [name for name, text in html5.items() if len(text.encode()) > len(f"&{name}")]
    assert [parseable(f"&{name}") for name in longer] == [html5[name] for name in longer]
    assert len(longer) == 2


# -- around it


def test_pages_are_read_in_threads_as_they_are_read_alone() -> None:
    alone = [read_page(made.html) for made in PAGES]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda made: read_page(made.html), chain.from_iterable(repeat(PAGES, 50))))
    assert together == alone * 50


def test_without_the_library_the_error_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resiliparse.parse.html", None)
    page_module._library.cache_clear()
    try:
        with pytest.raises(ConfigError, match=r'pip install "stream_lsh\[html\]"'):
            read_page("<p>one")
    finally:
        page_module._library.cache_clear()


def test_an_unknown_mode_is_an_error_that_names_the_others() -> None:
    with pytest.raises(ConfigError, match=r"'pages', expected one of main, page; did you mean 'page'\?"):
        read_page("<p>one", "pages")  # type: ignore[arg-type]
