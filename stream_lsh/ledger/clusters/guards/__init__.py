"""Guards against chaining: they divide a component of pairs into the published clusters."""
