"""Input of the commands: batches, the reader process, sampling."""
