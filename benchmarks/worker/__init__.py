"""The worker on a real broker: throughput, latency and recovery."""
