"""Encoding and decoding: messages of users, internal messages, and the division of a batch over them.

`source` and `public` are the users' side.  `frames` and `ledger_record` are internal: `layout` is their common form,
`sections` lists the columns, `fingerprint` identifies the scheme that they were made under.  `split` divides a batch
over messages, `route` over partitions.
"""
