"""What a case tells is read, also from another process."""

from __future__ import annotations

from multiprocessing import get_context

from walras.progress import Progress
from walras.simulate.compare.board import Board


def _tell(board: Board) -> None:
    board.hook(2)(Progress(3, elapsed=1.5, total=4))


def test_what_another_process_tells_is_read() -> None:
    board = Board(3)
    assert board.running() == {}
    assert not board.hook(0)(Progress(1, elapsed=2.0, total=10))
    child = get_context("spawn").Process(target=_tell, args=(board,))
    child.start()
    child.join()
    assert board.running() == {0: (2.0, 0.1), 2: (1.5, 0.75)}
