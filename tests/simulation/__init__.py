"""The protocol on a simulated log: the real steps, run as they run on Kafka, through crashes, replays and reordering.

log         topics, offsets, committed positions and trimming; the producers of workers and the disks of machines
pipelines   the settings of a run, schemes, records with decisions, the intake
drivers     workers that drive the package's agents; a schedule may interrupt them at every effect
schedules   one seed, one regime, one run; runs in which a topic loses messages
oracles     the true results, and the checks of a run at rest
rules       each rule of the protocol with the patches that remove it
reordered   wrappers over the effects of agents, which violate rules
"""
