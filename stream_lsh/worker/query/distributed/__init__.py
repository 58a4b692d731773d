"""The distribution of a query over processes: which of them has a state, and how a step runs on it."""
