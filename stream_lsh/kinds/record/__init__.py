"""Records: blocked by keys, compared field by field, linked to entities."""
