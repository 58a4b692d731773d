"""The topics of an application: required, identified, limited and trimmed."""
