"""The protocol on a simulated log: the real steps, run as they run on Kafka, through crashes, replays and reordering.

broker      topics, offsets, committed positions, trimming
workers     processes that own partitions: tables in memory, recovered from changelogs
agents      the five steps as they read, write and acknowledge; every write is a point where a schedule may cut in
schedule    one seed, one regime, one run
entities    what pipelines of records add: scores that move, values that are counted, decisions
oracle      what must be true of the documents that were produced
invariants  what is checked when nothing moves any more
entity_invariants  those of records: pairs, reviews, decisions, entities, scores, frequencies
rules       each rule of the protocol, and how to take it out
"""
