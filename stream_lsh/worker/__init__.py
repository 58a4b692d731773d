"""The live worker: agents on a stream engine, their tables, their topics, their brokers.

The only room that imports faust, asyncio and clocks.
"""
