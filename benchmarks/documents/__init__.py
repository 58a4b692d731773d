"""Documents in memory and in files: signing, the index, the ledger, joins and quality."""
