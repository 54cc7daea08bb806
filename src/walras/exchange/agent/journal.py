"""The agent's journal: JSON lines that are durable before what follows them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from walras.exchange.errors import StoreError

_KEPT = 4096  # records above which the journal is written anew
_GROWN = 2  # times as many records as were kept then, before it is written anew again


class JournalFile:
    """Records of an agent's lives; what was acknowledged is left out now and then.

    Args:
        path: The file; its folder exists.

    Attributes:
        records: Those that were there when it was opened, oldest first.

    Raises:
        StoreError: It cannot be read or written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.records = self._read()
        try:
            if len(self.records) > _KEPT:
                self.records = self._compacted(self.records)
            self._file = path.open("ab")
        except OSError as error:
            raise self._unusable(error) from error
        self._count = len(self.records)
        self._most = max(_KEPT, _GROWN * self._count)

    def _read(self) -> list[dict[str, Any]]:
        try:
            lines = self.path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return []
        except OSError as error:
            raise self._unusable(error) from error
        whole = lines[:-1]  # what follows the last line's end was being written when it broke off
        if lines[-1]:
            os.truncate(self.path, sum(len(line) + 1 for line in whole))
        try:
            return [json.loads(line) for line in whole]
        except ValueError as error:
            raise StoreError(
                f"line {len(whole)} or before is damaged: {error}",
                where=str(self.path),
                allowed="a journal that an agent wrote",
                remedy="move the file away: its runs end when their leases end",
            ) from error

    def _compacted(self, records: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Write the file anew without what was acknowledged; what is left."""
        ended = {(r["placement"], r["token"]) for r in records if r["kind"] == "ack"}
        lives = [r for r in records if r["kind"] == "life"][-1:]
        open_ = [
            r
            for r in records
            if r["kind"] in ("grant", "result") and (r["placement"], r["token"]) not in ended
        ]
        fresh = self.path.with_suffix(".new")
        with fresh.open("wb") as file:
            file.write(b"".join(_line(record) for record in lives + open_))
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, self.path)
        _flush(self.path.parent)  # else records to come could be lost with the file's new place
        return lives + open_

    def write(self, record: dict[str, Any]) -> None:
        """Add a record; it is durable when this returns.

        Raises:
            StoreError: The disk is full or broken.
        """
        try:
            self._file.write(_line(record))
            self._file.flush()
            os.fsync(self._file.fileno())
            self._count += 1
            if self._count > self._most:
                self._file.close()
                self._count = len(self._compacted(self._read()))
                self._most = max(_KEPT, _GROWN * self._count)
                self._file = self.path.open("ab")
        except OSError as error:
            raise self._unusable(error) from error

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _unusable(self, error: OSError) -> StoreError:
        return StoreError(
            f"cannot be used: {error.strerror or error}",
            where=str(self.path),
            allowed="a file that can be read and written, on a disk with room",
            remedy="free some space, or choose another --home",
        )


def _flush(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _line(record: dict[str, Any]) -> bytes:
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"
