"""Near-duplicate documents and matching records, found while they stream through Kafka."""
