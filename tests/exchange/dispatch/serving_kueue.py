"""The fake manager cluster on a port of this machine, with watches that stream."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit

from tests.exchange.dispatch.fake_kueue import FakeKueue, RefusedError

from walras.exchange.dispatch.requests import Request

TOKEN = "secret"


class ServingKueue:
    """The fake, served over HTTP.

    Attributes:
        fake: It; use :attr:`lock` while it is served.
        lock: Held for each request.
        fault: Called with each request; gives a status to answer with in its place, or 0.
        seconds: How long a watch may go on.
        watches: Version of each watch that was begun, by kind.
        cut: Set to cut every watch off.
    """

    def __init__(self, fake: FakeKueue) -> None:
        self.fake, self.lock = fake, threading.RLock()
        self.fault: Callable[[Request], int] = lambda _: 0
        self.seconds = 30.0
        self.watches: list[tuple[str, int]] = []
        self.cut = threading.Event()
        served = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # head and body go out together

            def do_GET(self) -> None:
                served._serve(self)

            def do_PATCH(self) -> None:
                served._serve(self)

            def log_message(self, *_: Any) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._ends = threading.Event()
        self.url = f"http://127.0.0.1:{self._http.server_port}"

    def _serve(self, handler: BaseHTTPRequestHandler) -> None:
        parts = urlsplit(handler.path)
        query = dict(parse_qsl(parts.query))
        size = int(handler.headers.get("Content-Length") or 0)
        body = handler.rfile.read(size) if size else None
        content = handler.headers.get("Content-Type") or ""
        stream = "watch" in query
        request = Request(handler.command, parts.path, query, body, content, stream)
        if handler.headers.get("Authorization") != f"Bearer {TOKEN}":
            self._send(handler, 401, {"message": "Unauthorized"})
        elif status := self.fault(request):
            self._send(handler, status, {"message": "a fault", "code": status})
        elif stream:
            with suppress(OSError):
                self._watch(handler, request)
            handler.close_connection = True
        else:
            with self.lock:
                self.fake.now = time.time()
                status, answer = self.fake.handle(request)
            self._send(handler, status, answer)

    def _send(self, handler: BaseHTTPRequestHandler, status: int, body: Any) -> None:
        data = json.dumps(body).encode()
        with suppress(OSError):
            handler.send_response(status)
            handler.send_header("Content-Type", "application/json")
            handler.send_header("Content-Length", str(len(data)))
            if status == 429:
                handler.send_header("Retry-After", "1")
            handler.end_headers()
            handler.wfile.write(data)

    def _watch(self, handler: BaseHTTPRequestHandler, request: Request) -> None:
        kind = request.path.rpartition("/")[2]
        version = int(request.query["resourceVersion"])
        end = time.monotonic() + min(self.seconds, float(request.query["timeoutSeconds"]))
        with self.lock:
            self.fake.requests.append(request)
            self.watches.append((kind, version))
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json;stream=watch")
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        marked = 0.0
        while time.monotonic() < end and not self._ends.is_set():
            if self.cut.is_set():
                handler.connection.close()  # in the middle of a chunked answer
                return
            try:
                with self.lock:
                    events, version = self.fake.after(kind, version)
                    if time.monotonic() - marked > 0.3:
                        events, marked = [*events, self.fake.bookmark()], time.monotonic()
            except RefusedError as refused:
                events, end = [{"type": "ERROR", "object": refused.body}], 0.0
            for event in events:
                data = json.dumps(event).encode() + b"\n"
                handler.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
            handler.wfile.flush()
            time.sleep(0.02)
        handler.wfile.write(b"0\r\n\r\n")

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()
