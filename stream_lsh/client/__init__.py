"""Clients of the query API of workers.

`calls` has the requests and `answers` the values that answer them; `synchronous` and `asynchronous` send them.
"""
