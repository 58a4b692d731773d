"""Chaos: workers and a cluster of three brokers as processes, and a schedule of faults that a seed decides.

    cluster    three Kafka nodes of this machine
    disk       a disk that can be filled
    proxy      what lies between a worker and a broker
    workers    processes that are started again when they end
    faults     everything that can happen, one function each
    schedule   what happens when
    profiles   what is fed, and to which pipelines
    feeding    documents with updates and deletes
    checker    what is missing, wrong or stale in the end
    expiry     the same where event time passes many retentions
    stories    what clusters tell besides
    records    records of people with decisions, and what is published of them
    evidence   what the topics say about it
    run        all of it, once

`python -m tests.chaos --profile rekey --seed 7` runs it; `make soak` runs every profile twice, for ten minutes each.
"""
