"""The agents of the protocol, written once: generators that yield their writes as effects, in order.

An agent does no input or output.  A driver takes its effects one by one and carries them out: the worker on Kafka, the
simulated log of the tests in memory, `pipeline.local` by calling the next agent.  So the order of deliveries, on which
docs/internals/protocol.md rests, stands in these modules and nowhere else.
"""
