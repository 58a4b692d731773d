"""Clients of the query API of workers.

`calls` has the requests, `answers` and `groups` the values that answer them.  `synchronous` and `asynchronous` send the
requests.
"""
