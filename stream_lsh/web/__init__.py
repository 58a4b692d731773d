"""Web pages over the query API: functions that turn its answers into HTML, and the server of the pages.

`asks` has requests to the query API and their answers, `source` sends them to workers, `pages` builds a page from the
answers, `rendering` writes it as HTML, `server` serves it over a `listener`.  They need the extra `web`.
"""

from importlib.util import find_spec

from stream_lsh.errors import ConfigError

if find_spec("aiohttp") is None:
    raise ConfigError('web pages need aiohttp: pip install "stream_lsh[web]"')
