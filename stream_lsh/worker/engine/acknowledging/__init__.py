"""Acknowledgements after confirmed delivery, and the offsets that the group has confirmed."""
