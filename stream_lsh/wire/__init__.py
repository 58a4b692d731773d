"""Encoding and decoding: messages of users, internal messages, and the division of a batch over them.

Messages of users: `message` parses those of a source (the kinds add their own fields), `public` encodes the results.
Internal messages: `frames` and `ledger_parts` encode them, `layout` defines their common form, `sections` and
`ledger_sections` their columns; `fingerprint` identifies the scheme that they were made under.  `split` divides a batch
over messages, `route` over partitions, and `outgoing` does both for the effects of an agent.
"""
