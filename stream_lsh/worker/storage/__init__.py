"""State on disk: what a worker need not read from the changelogs again.

    folder      the folder of one worker process, its lock, and what is written into every part of it
    documents   the documents of one partition, in RocksDB
    buckets     the band-bucket table of one partition: segments in files that are mapped, and what they add up to

A changelog is the truth, and what is here a copy of its beginning: it says up to which offset.  It is never ahead of
the changelog, and what does not fit - another application, topic or scheme, damage, a log that begins later or ends
earlier - is removed and read again.  No guarantee rests on it (docs/internals/adr/0016).
"""
