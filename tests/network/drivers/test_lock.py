"""Locks: one holder at a time, released whatever ends it."""

from __future__ import annotations

import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from walras.errors import DataError, InputError
from walras.network.drivers.lock import Lock, claim

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="deployments do not run there")


def test_a_lock_has_one_holder_and_is_free_when_that_ends(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with (
        closing(Lock(path)),
        pytest.raises(InputError, match="is in use by another process") as caught,
    ):
        Lock(path)
    assert caught.value.where == str(tmp_path)
    Lock(path).close()
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_holder_that_is_about_to_end_is_waited_for(tmp_path: Path) -> None:
    held = Lock(tmp_path / "lock")
    threading.Timer(0.1, held.close).start()
    Lock(tmp_path / "lock", seconds=20.0).close()


def test_a_lock_that_cannot_be_made_is_one_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="lock"):
        Lock(tmp_path / "none" / "lock")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has names for a claim")
def test_a_deployment_is_claimed_once_whatever_its_folder(tmp_path: Path) -> None:
    with closing(claim("one", tmp_path)):
        with pytest.raises(InputError, match="one, which runs in another folder"):
            claim("one", tmp_path / "copy")
        claim("other", tmp_path).close()
    claim("one", tmp_path).close()
