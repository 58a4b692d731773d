"""Bytes in and out: messages of users, messages of our own, and how a batch is divided over them.

`source` and `public` are the users' side.  `frames` and `ledger_record` are ours: `layout` is the form that all of them
share, `sections` what stands in it, `fingerprint` the scheme that they were made under.  `cut` divides a batch over
messages, `route` over partitions.
"""
