"""Tables of settings: how they are declared, read and rejected."""
