"""Pages as they are found on the web, by hand: what their main text has to contain, and what it must not."""

from typing import NamedTuple


class MadePage(NamedTuple):
    """A page, and what is to be read of it.

    Attributes:
        name: what kind of page it is.
        html: its source.
        article: passages of the article, in their order.
        around: what stands around the article: a reader sees it, and it is no part of the article.
        unseen: what no reader sees.
    """

    name: str
    html: str
    article: tuple[str, ...]
    around: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()


def _paragraphs(*texts: str) -> str:
    return "".join(f"<p>{text}</p>\n" for text in texts)


_FLOOD = (
    "The river rose above the old mark on Tuesday night, and by morning the lower market stood knee-deep in water.",
    "There were no injuries, reported the mayor after a night on the bridge with the fire brigade and two pumps.",
    "The last flood of this kind was in 1954; the wall that was built after it held for all but forty metres.",
)
_NEWS = f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Market under water | The Weir Courier</title>
<meta property="og:title" content="Market under water after a night of rain">
<meta property="og:site_name" content="The Weir Courier">
<meta property="article:published_time" content="2026-03-04T06:30:00+01:00">
<link rel="canonical" href="https://courier.example/2026/03/market-under-water">
<style>.ad {{ color: red }}</style><script>var tracking = "on every page";</script></head>
<body>
<div id="cookie-banner" class="cookie-consent"><p>We value your privacy.</p><button>Accept all</button></div>
<header class="site-header"><a href="/">The Weir Courier</a>
<nav><ul><li><a href="/local">Local news</a></li><li><a href="/sport">Sport pages</a></li></ul></nav></header>
<main><article><h1>Market under water after a night of rain</h1>
<p class="lead">{_FLOOD[0]}</p>
<div class="advertisement">Advertisement: rubber boots at half the price!</div>
<p>{_FLOOD[1]}</p>
<p>{_FLOOD[2]}</p></article>
<aside class="related"><h2>Read also</h2><ul><li><a href="/x">Ferry timetable changes in May</a></li></ul></aside>
<section id="comments" class="comments"><h2>Comments</h2>
<div class="comment"><p>I warned them about that wall in 2010, and who listened?</p></div></section></main>
<footer class="site-footer"><p>Copyright The Weir Courier. Imprint and terms of use.</p></footer>
<noscript><img src="pixel.gif">Please turn on JavaScript.</noscript><template><p>Row template</p></template>
</body></html>"""

_BREAD = (
    "A starter wants flour, water and ten days of patience; everything else that is written about it is decoration.",
    "Feed it at the same hour every day, and throw half of it away first, or you will need a larger kitchen by Friday.",
    "When it doubles within six hours three days in a row it is strong enough to lift a loaf.",
)
_BLOG = f"""<html><head><title>Sourdough, slowly</title></head><body class="home">
<div id="top-menu"><a href="/">Home</a> <a href="/about">About the baker</a> <a href="/rss">Feed</a></div>
<div id="sidebar" class="sidebar"><h3>Archive by month</h3><ul><li><a href="/1">January</a></li></ul></div>
<div id="content" class="post"><h2>Sourdough, slowly</h2><div class="entry-content">{_paragraphs(*_BREAD)}</div>
<div class="share-buttons">Share this with your friends</div></div>
<div id="comments"><h3>Two replies so far</h3><ol class="comment-list"><li class="comment">
<p>My starter is called Bertha, and she lives in the cellar.</p></li></ol></div>
<div id="footer">Powered by a small press</div></body></html>"""

_TABLE = (
    "The observatory publishes the depth of the snow each morning at seven, measured at three stakes.",
    "At the pass the snow has been deeper than two metres since the first week of January.",
)
_WEATHER = f"""<html><head><title>Snow report</title></head><body>
<table class="layout" width="100%">
<tr><td class="menu" width="150"><a href="/a">Avalanches</a><br><a href="/w">Webcams</a></td>
<td class="main"><h1>Snow report</h1>{_paragraphs(*_TABLE)}
<table><tr><th>Stake</th><th>Depth</th></tr><tr><td>Lower meadow</td><td>84 cm</td></tr>
<tr><td>Upper hut</td><td>151 cm</td></tr></table></td></tr></table></body></html>"""

_MANUAL = (
    "The pump has to be primed before it is started: open the vent, fill the chamber, and close the vent again.",
    "Never run it dry, not even for a moment, because the seals are cooled by the water that passes them.",
)
_DOCS = f"""<html><head><title>Priming the pump &#8212; Handbook 2.1</title></head><body>
<div class="related" role="navigation"><h3>Navigation</h3>
<ul><li><a href="i">index</a></li><li><a href="n">next</a></li></ul></div>
<div class="document"><div class="documentwrapper"><div class="bodywrapper"><div class="body" role="main">
<section id="priming"><h1>Priming the pump</h1>{_paragraphs(*_MANUAL)}
<pre>vent open
fill 3 l
vent close</pre></section></div></div></div>
<div class="sphinxsidebar" role="navigation"><h4>Table of contents</h4><ul><li><a href="o">Oiling</a></li></ul>
<form action="s"><input type="submit" value="Go"></form></div></div>
<div class="footer" role="contentinfo">&copy; Copyright 2026, the pump makers.</div></body></html>"""

_JAPANESE = (
    "昨夜の大雨で川の水位が上がり、市場の一部が浸水した。けが人はいないと市長は述べた。",
    "このような洪水は一九五四年以来で、その後に築かれた堤防は四十メートルを除いて持ちこたえた。",
)
_CJK = f"""<html lang="ja"><head><meta charset="utf-8"><title>市場が浸水</title></head><body>
<nav><a href="/">ホーム</a> <a href="/s">スポーツ</a></nav>
<article><h1>市場が浸水</h1>{_paragraphs(*_JAPANESE)}</article><footer>無断転載を禁じます</footer></body></html>"""

_HEBREW = (
    "הנהר עלה הלילה מעל הסימן הישן, ובבוקר עמד השוק התחתון במים עד הברכיים.",
    "איש לא נפגע, אמר ראש העיר, שבילה את הלילה על הגשר עם מכבי האש ושתי משאבות.",
)
_RTL = f"""<html lang="he" dir="rtl"><head><meta charset="utf-8"><title>השוק מתחת למים</title></head><body>
<header><nav><a href="/">דף הבית</a></nav></header>
<main><h1>השוק מתחת למים</h1>{_paragraphs(*_HEBREW)}</main><footer>כל הזכויות שמורות</footer></body></html>"""

_SHORT = "<html><head><title>Gone</title></head><body><p>This page has moved.</p></body></html>"

_OLD = f"""<HTML><HEAD><TITLE>Notes on bread</TITLE></HEAD><BODY BGCOLOR=white>
<CENTER><FONT SIZE=5>Notes on bread</FONT></CENTER>
<P>{_BREAD[0]}<P>{_BREAD[1]}<BR>{_BREAD[2]}<HR><A HREF=index.html>Back</A></BODY></HTML>"""

PAGES = (
    MadePage(
        "news",
        _NEWS,
        ("Market under water after a night of rain", *_FLOOD),
        ("Local news", "Sport pages", "Ferry timetable", "I warned them", "Imprint and terms", "We value your privacy",
         "rubber boots"),
        ("tracking", "color: red", "turn on JavaScript", "Row template"),
    ),
    MadePage(
        "blog",
        _BLOG,
        ("Sourdough, slowly", *_BREAD),
        ("About the baker", "January", "Bertha", "small press", "Share this"),
    ),
    MadePage("layout of tables", _WEATHER, (*_TABLE, "Lower meadow", "84 cm", "Upper hut", "151 cm")),
    MadePage(
        "handbook",
        _DOCS,
        ("Priming the pump", *_MANUAL, "vent open"),
        ("index", "Oiling", "the pump makers"),
    ),
    MadePage("Japanese", _CJK, _JAPANESE, ("スポーツ", "無断転載")),
    MadePage("Hebrew", _RTL, _HEBREW, ("דף הבית", "כל הזכויות")),
    MadePage("short", _SHORT, ("This page has moved.",)),
    MadePage("tags of 1996", _OLD, _BREAD),
)  # fmt: skip
