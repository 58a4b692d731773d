"""The protocol on a simulated log: the real steps, run as they run on Kafka, through crashes, replays and reordering.

broker      topics, offsets, committed positions, trimming
setup       settings of a run
recovery    tables in memory, recovered from changelogs
process     the state of a worker
tasks       the package's agents with their input
workers     processes that drive these agents; every effect is a point where a schedule may cut in
schedule    one seed, one regime, one run
disk        copies of band-bucket tables on the disk of a machine
entities    pipelines of records: scores that move, counted values, decisions
watch       the extent of the changelogs at random moments
oracle      the true results for the produced documents
view        a run at rest beside the truth
invariants  the checks of a run at rest
entity_invariants  the checks of records: pairs, reviews, decisions, entities, scores, frequencies
followers   standbys and copies against a recovery
rules       each rule of the protocol with the patches that remove it
"""
