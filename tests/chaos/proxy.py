"""The network between a worker and a broker: a TCP proxy that can cut, refuse, hold back and slow down connections.

Bytes that a client has sent before it gives up still arrive once the way is free again, as on a real network.
"""

import asyncio
import contextlib
import socket
import struct

_PIECE = 1 << 16


class Proxy:
    """Passes on the connections from one port of this machine to another.

    Args:
        port: to listen on.
        target: the port to connect to.

    Attributes:
        refusing: whether new connections are reset.
        delay_s: how long each piece of data waits.
        bytes_per_s: how fast data passes; None: as fast as it comes.
    """

    def __init__(self, port: int, target: int) -> None:
        self._port, self._target = port, target
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self._flows = asyncio.Event()
        self._flows.set()
        self.refusing = False
        self.delay_s = 0.0
        self.bytes_per_s: int | None = None

    async def start(self) -> None:
        """Listen."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self._port)

    async def close(self) -> None:
        """Cut everything and listen no more."""
        if self._server is not None:
            self._server.close()
        self.cut()
        await asyncio.gather(*self._connections, return_exceptions=True)

    def cut(self) -> int:
        """Reset all connections; how many there were."""
        for connection in self._connections:
            connection.cancel()
        return len(self._connections)

    def hold(self) -> None:
        """Let nothing through, without an error."""
        self._flows.clear()

    def release(self) -> None:
        """Let everything through again, the held bytes first."""
        self._flows.set()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = asyncio.current_task()
        assert connection is not None
        self._connections.add(connection)
        far: asyncio.StreamWriter | None = None
        try:
            if self.refusing:
                return
            from_far, far = await asyncio.open_connection("127.0.0.1", self._target)
            await asyncio.gather(self._pass_on(reader, far), self._pass_on(from_far, writer))
        except (OSError, asyncio.CancelledError):
            pass  # a server's task that ends in an exception is an error in the log
        finally:
            self._connections.discard(connection)
            for end in (writer, far):
                if end is not None:
                    _reset(end)

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while piece := await reader.read(_PIECE):
                if self.delay_s or self.bytes_per_s:
                    await asyncio.sleep(self.delay_s + len(piece) / (self.bytes_per_s or 1 << 40))
                await self._flows.wait()
                writer.write(piece)
                await writer.drain()
        with contextlib.suppress(OSError):
            await self._flows.wait()
            writer.write_eof()


def _reset(writer: asyncio.StreamWriter) -> None:
    """Close a connection as the kernel of a dead process would not: at once, and the other side gets a reset."""
    opened = writer.get_extra_info("socket")
    if opened is not None and not writer.transport.is_closing():
        with contextlib.suppress(OSError):
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
