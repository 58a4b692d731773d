"""Chaos: workers and a cluster of three brokers as processes, and a schedule of faults that a seed decides.

    cluster    three Kafka nodes of this machine
    disk       a disk that can be filled
    proxy      what lies between a worker and a broker
    workers    processes that are started again when they end
    faults     everything that can happen, one function each
    schedule   what happens when
    feeding    documents with updates and deletes
    checker    what is missing, wrong or stale in the end
    evidence   what the topics say about it
    run        all of it, once

`python -m tests.chaos --seed 7` runs it; `make soak` runs ten long ones.
"""
