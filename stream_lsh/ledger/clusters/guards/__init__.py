"""Guards against chaining: from a component of pairs to the clusters that it is published as."""
