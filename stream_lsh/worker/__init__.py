"""The live worker: agents on a stream engine, their tables, their topics, their brokers.

The only subpackage that imports faust; it needs the extra `kafka`.
"""

import sys
from importlib.util import find_spec

from stream_lsh.errors import ConfigError

for _library in ("faust", "aiokafka", "aiohttp", "cramjam", "prometheus_client", "rocksdict"):
    # `find_spec` raises for a loaded faust, which replaces its own module.
    if sys.modules.get(_library) is None and find_spec(_library) is None:
        raise ConfigError(
            f'Kafka needs {_library}: pip install "stream_lsh[kafka]", or "stream_lsh[embedded]", which also has a '
            "broker in memory"
        )
