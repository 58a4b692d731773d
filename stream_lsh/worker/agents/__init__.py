"""The agents on Kafka: they decode messages, run the agents of the core, and carry out the effects of these."""
