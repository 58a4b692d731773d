"""The protocol on a simulated log: the real steps, run as they run on Kafka, through crashes, replays and reordering.

broker      topics, offsets, committed positions, trimming
setup       settings of a run
recovery    tables in memory, recovered from changelogs
process     what a worker holds
tasks       the package's agents, and what each reads
workers     processes that drive these agents; every effect is a point where a schedule may cut in
schedule    one seed, one regime, one run
disk        copies of band-bucket tables on the disk of a machine
entities    what pipelines of records add: scores that move, values that are counted, decisions
watch       what changelogs held at random moments
oracle      what must be true of the documents that were produced
view        a run at rest beside the truth
invariants  what is checked when nothing moves any more
entity_invariants  those of records: pairs, reviews, decisions, entities, scores, frequencies
followers   standbys and copies against a recovery
rules       each rule of the protocol, and how to take it out
"""
