"""Kafka clients that run outside a worker: producer, tail, health check, audit."""
