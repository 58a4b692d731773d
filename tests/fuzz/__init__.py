"""Hostile messages, through parsers, steps and workers: nothing but an `InputError` may come of one."""
