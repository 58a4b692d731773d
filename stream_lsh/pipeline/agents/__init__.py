"""The agents of the protocol, written once: generators that yield their writes as effects, in order.

An agent performs no I/O.  A driver receives its effects one by one and carries them out: the worker on Kafka, the
simulated log of the tests in memory, `pipeline.local` by calling the next agent.  So these modules alone define the
order of deliveries, on which docs/internals/protocol.md depends.
"""
