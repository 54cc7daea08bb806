"""Ctrl-C is one line while modules are imported."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import pytest

from walras.__main__ import main


@dataclass
class _Pressed:
    """Ctrl-C comes when a module is imported."""

    module: str

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == self.module:
            raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("module", "said"),
    [
        ("walras.cli.main", "interrupted\n"),
        ("walras.cli.rebalance", "error[stopped]: interrupted\n"),
    ],
)
def test_ctrl_c_while_modules_are_imported_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], module: str, said: str
) -> None:
    monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setattr(sys, "meta_path", [_Pressed(module), *sys.meta_path])
    monkeypatch.setattr(sys, "argv", ["walras", "rebalance", "--help"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130
    assert capsys.readouterr() == ("", said)
