"""Hosts of their own: network namespaces whose packets pass through this process.

Each host has an address on a device that this process reads and writes, so that it can lose
packets, hold them back, and cut a host off; no module of the kernel for that is needed.
"""

from __future__ import annotations

import fcntl
import heapq
import os
import random
import select
import struct
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from typing import Self

from tests.exchange.processes.template import enter_network

_SET_DEVICE = 0x400454CA  # TUNSETIFF
_PLAIN = 0x0001 | 0x1000  # IFF_TUN, IFF_NO_PI
_MARK = count()


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, timeout=30)


class Network:
    """Hosts and the wire between them; use it in a ``with``.

    Args:
        hosts: How many.

    Attributes:
        names: Of the hosts' namespaces; host ``k`` has the address of :meth:`address`.
        loss: Share of the packets that are lost.
        delay: Seconds that each packet is held back.
        rate: Bytes a second that each host can send.
        cut: Hosts from and to which nothing passes.
        passed: Packets that arrived.
        lost: Packets that did not.
    """

    def __init__(self, hosts: int) -> None:
        self.loss, self.delay, self.rate = 0.0, 0.0, float("inf")
        self.cut: set[int] = set()
        self.passed = self.lost = 0
        mark = f"walras-{os.getpid()}-{next(_MARK)}"
        self.names = [f"{mark}-{k}" for k in range(hosts)]
        self._draw = random.Random(0)
        self._ended = threading.Event()
        self._devices: list[int] = []
        try:
            for k, name in enumerate(self.names):
                self._devices.append(self._made(k, name))
        except BaseException:
            self.close()
            raise
        self._thread = threading.Thread(target=self._carry, daemon=True)
        self._thread.start()

    def address(self, k: int) -> str:
        """The address of a host."""
        return f"10.77.0.{k + 1}"

    def _made(self, k: int, name: str) -> int:
        """A namespace with a device; what is written to its handle arrives there."""

        def opened() -> int:
            handle = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
            fcntl.ioctl(handle, _SET_DEVICE, struct.pack("16sH22x", b"wire", _PLAIN))
            return handle

        _ip("netns", "add", name)
        with ThreadPoolExecutor(1, initializer=enter_network, initargs=(name,)) as inside:
            handle = inside.submit(opened).result()
        _ip("-n", name, "addr", "add", f"{self.address(k)}/24", "dev", "wire")
        for device in ("lo", "wire"):
            _ip("-n", name, "link", "set", device, "up")
        return handle

    def _carry(self) -> None:
        """Carry packets until the end."""
        waiting: list[tuple[float, int, int, bytes]] = []
        order, clear = count(), [0.0] * len(self.names)
        while not self._ended.is_set():
            now = time.monotonic()
            pause = min(max(waiting[0][0] - now, 0.0), 0.2) if waiting else 0.2
            ready, _, _ = select.select(self._devices, [], [], pause)
            now = time.monotonic()
            for handle in ready:
                packet = os.read(handle, 65536)
                ends = self._ends(packet)
                if ends is None:
                    continue
                source, target = ends
                if {*ends} & self.cut or self._draw.random() < self.loss:
                    self.lost += 1
                else:
                    clear[source] = max(clear[source], now) + len(packet) / self.rate
                    heapq.heappush(
                        waiting, (clear[source] + self.delay, next(order), target, packet)
                    )
            while waiting and waiting[0][0] <= time.monotonic():
                _, _, target, packet = heapq.heappop(waiting)
                with suppress(OSError):
                    os.write(self._devices[target], packet)
                self.passed += 1

    def _ends(self, packet: bytes) -> tuple[int, int] | None:
        """The hosts from and to which a packet goes; None where it is none of ours."""
        if packet[0] >> 4 != 4 or packet[16:19] != bytes((10, 77, 0)):
            return None
        source, target = packet[15] - 1, packet[19] - 1
        known = range(len(self.names))
        return (source, target) if source in known and target in known else None

    def close(self) -> None:
        """Take hosts and wire away."""
        self._ended.set()
        if thread := getattr(self, "_thread", None):
            thread.join(10.0)
        for handle in self._devices:
            os.close(handle)
        for name in self.names:
            with suppress(subprocess.SubprocessError):
                _ip("netns", "del", name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
