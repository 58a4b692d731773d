"""Sites that mirror each other."""
