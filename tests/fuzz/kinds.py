"""Pipelines of every kind, which read the messages."""

from stream_lsh.config import Config, parse

KINDS = {
    "text": "",
    "unkeyed": "rekey = true\nretention = ''",
    "stories": "stories = true\nmirror_share = 0.5",
    "html": "html = 'main'\nstories = true",
    "page": "html = 'page'\nshingles = 'char:5'",
    "exact": "method = 'exact'\nthreshold = 0.6",
    "people": "kind = 'record'\nprofile = 'people'",
    "companies": "kind = 'record'\nprofile = 'companies'\nretention = ''",
    "products": "kind = 'record'\nprofile = 'products'\nrekey = true",
    "bibliography": "kind = 'record'\nprofile = 'bibliography'",
    "set": "kind = 'set'\nthreshold = 0.5",
    "bag": "kind = 'set'\nbag = true\nthreshold = 0.5",
    "grid": "kind = 'set'\nfamily = 'grid'\nthreshold = 0.5\n[pipeline.grid]\nsquares = 40",
    "cosine": "kind = 'vector'\ndimension = 6\ndistance = 20.0",
    "euclidean": "kind = 'vector'\nmeasure = 'euclidean'\ndimension = 6\ndistance = 1.5",
    "hamming": "kind = 'vector'\nmeasure = 'hamming'\ndimension = 64\ndistance = 8.0",
}
"""Settings of a pipeline, by the name it has here."""


def config_of(*kinds: str, suffix: str = "") -> Config:
    """A configuration with a pipeline of each kind; `suffix` keeps the topics of one worker apart from another's."""
    texts = [f'[worker]\nweb = ""\napp_id = "fuzz{suffix}"\n']
    for kind in kinds:
        name = f"{kind}{suffix}"
        texts.append(f'[[pipeline]]\nname = "{name}"\nsource = "{name}-source"\npartitions = 1\n{KINDS[kind]}\n')
    return parse("".join(texts), "fuzz.toml", {})
