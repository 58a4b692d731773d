"""The query API of a worker: any worker answers for the whole application, from the states of all workers."""
