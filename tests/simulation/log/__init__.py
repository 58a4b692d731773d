"""The simulated log.

broker      topics, offsets, committed positions, trimming
codec       frames and records as bytes
producer    messages that a worker has sent and the log has not stored yet
disk        copies of band-bucket tables on the disk of a machine
watch       the extent of the changelogs at random moments
"""
