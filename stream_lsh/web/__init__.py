"""Web pages over the query API: functions from answers to HTML, and a server that asks and answers.

`asks` has requests to the query API and their answers, `source` sends them to workers, `pages` builds a page from the
answers, `rendering` writes it as HTML, `server` serves it.
"""
