"""Chaos: workers and a cluster of three brokers as processes, and a schedule of faults that a seed decides.

    cluster    three Kafka nodes of this machine
    disk       a disk that can be filled
    proxy      the network between a worker and a broker
    workers    processes that restart when they end
    faults     everything that can happen, one function each
    schedule   the order and the times of the faults
    profiles   the input and the pipelines of a run
    feeding    documents with updates and deletes
    checker    missing, wrong and stale results in the end
    expiry     the same after event time has passed many retentions
    stories    the summaries of clusters
    records    records of people with decisions, and the checks of their results
    evidence   the history of wrong pairs in the topics
    run        one run of it all

`python -m tests.chaos --profile rekey --seed 7` runs it; `make soak` runs every profile twice, for ten minutes each.
"""
