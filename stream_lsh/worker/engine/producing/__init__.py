"""Sending records: their partitions, and the open batches of the client."""
