"""State on disk: a worker need not read this part of its state from the changelogs again.

folder      the folder of one worker process, its lock, and the identity of every part of it
documents   the documents of one partition, in RocksDB
buckets     the band-bucket table of one partition: mapped files of segments, and a manifest
ledger      the ledger: a snapshot that is written at an orderly end

The changelog is authoritative; the files are a copy of its beginning, up to a stored offset.  A copy is never ahead of
the changelog, and one that does not fit - another application, topic, scheme, damage, a log that begins later or ends
earlier - is removed and built again.  No guarantee depends on it (docs/internals/adr/0016).
"""
