"""The membership of a worker in its consumer group: observed, guarded, and the assignment of partitions."""
