"""Web pages over the query API: functions that turn its answers into HTML, and the server of the pages.

`asks` has requests to the query API and their answers, `source` sends them to workers, `pages` builds a page from the
answers, `rendering` writes it as HTML, `server` serves it.
"""
