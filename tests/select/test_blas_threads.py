"""BLAS' threads: the least limit of all solves under way holds, and the last gives them back."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from walras.select import blas_threads


@dataclass
class _Pool:
    threads: int = 8
    heard: list[int] = field(default_factory=list)

    def get_num_threads(self) -> int:
        return self.threads

    def set_num_threads(self, threads: int) -> None:
        self.threads = threads
        self.heard.append(threads)


class _Controller:
    def __init__(self, pool: _Pool) -> None:
        self.lib_controllers = [pool]

    def select(self, **_: str) -> _Controller:
        return self


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> _Pool:
    found = _Pool()
    monkeypatch.setattr(blas_threads, "ThreadpoolController", lambda: _Controller(found))
    return found


def test_the_least_limit_holds_until_its_solve_ends(pool: _Pool) -> None:
    limits = blas_threads._Limits()
    limits.enter(4)
    limits.enter(1)
    assert pool.threads == 1
    limits.leave(1)
    assert pool.threads == 4
    limits.leave(4)
    assert pool.threads == 8


def test_no_limit_gives_more_than_there_was(pool: _Pool) -> None:
    pool.threads = 2
    limits = blas_threads._Limits()
    limits.enter(6)
    assert (pool.threads, pool.heard) == (2, [])
    limits.leave(6)
    assert (pool.threads, pool.heard) == (2, [])


def test_in_a_forked_process_no_solve_is_under_way(pool: _Pool) -> None:
    limits = blas_threads._Limits()
    limits.restart()
    assert pool.heard == []
    limits.enter(1)
    limits.restart()
    assert pool.threads == 8


def test_what_was_set_in_between_is_what_the_next_solve_keeps(pool: _Pool) -> None:
    limits = blas_threads._Limits()
    limits.enter(1)
    limits.leave(1)
    pool.threads = 3
    limits.enter(1)
    limits.leave(1)
    assert pool.threads == 3
