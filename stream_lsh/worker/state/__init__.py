"""The state of a pipeline on a worker: by partition, kept in changelogs, with counts of the work done."""
