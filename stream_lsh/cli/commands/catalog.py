"""The commands by use, each with its summary and its module."""

GROUPS = {
    "first steps": {
        "demo": "find near-duplicates in a live stream, with a broker inside; needs nothing else",
        "init": "write a commented configuration for one use",
    },
    "files": {
        "dedup": "find near-duplicates: JSON lines, CSV, TSV, folders of text",
        "news": "group articles into stories: headline, outlets, first publisher",
        "mirrors": "find sites that mirror each other, from their pages",
        "link": "find matching records: people, companies, products, publications",
        "sets": "find similar sets: customers by purchases, users by pages, fingerprints",
        "neighbours": "find vectors within a distance of each other, or of a query",
        "plagiarism": "find texts that share passages, and show them side by side",
        "clones": "find functions that are copies of each other, including edited ones",
        "allpairs": "find every pair of near-duplicates: slower than dedup",
    },
    "kafka": {
        "worker": "run the pipelines of a configuration",
        "feed": "send documents from files to the source topic of a pipeline",
        "tail": "follow the results of a pipeline",
        "check": "check configuration, brokers, topics and lag; --audit: check the results",
        "serve": "answer queries from the changelogs, even while workers are down",
        "ui": "show web pages about running workers",
        "query": "ask running workers for documents similar to a file, or for one document",
        "decide": "decide that two records are the same, or different",
        "broker": "start or stop a Kafka broker on this machine, to try things out",
    },
    "understand and tune": {
        "explain": "show why two documents or records match, or why not",
        "plan": "compute workers, partitions, memory and disks for a stream",
        "tune": "choose bands and rows: recall, false candidates, memory",
        "profile": "propose, show and check profiles, which define how records are compared",
        "train": "learn the weights of a profile from records",
        "review": "label uncertain pairs of records in the terminal, for train",
        "evaluate": "compare matches with the true ones: precision, recall, F1",
    },
    "shell": {
        "completion": "print the completion script for bash, zsh or fish",
    },
}
"""Every command with its summary, by use."""

COMMANDS = {name: summary for group in GROUPS.values() for name, summary in group.items()}
"""Every command with its summary."""


def module_of(command: str) -> str:
    """The name of the module of a command: those of a large group have a folder."""
    folder = next((f"{group}." for group in ("files", "kafka") if command in GROUPS[group]), "")
    return f"{__package__}.{folder}{command}"
