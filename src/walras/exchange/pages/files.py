"""Files that pages need: the style sheet, the icon, and the scripts that npm's packages build."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fastapi import Response
from fastapi.staticfiles import StaticFiles

FOLDER = Path(__file__).with_name("static")
_SCRIPT = FOLDER / "built" / "main.js"


def built() -> bool:
    """Whether the scripts are there: a wheel has them, a source tree builds them."""
    return _SCRIPT.is_file()


class Files(StaticFiles):
    """The files; browsers ask each time whether theirs is the newest, and get 304 if so."""

    def __init__(self) -> None:
        super().__init__(directory=FOLDER)

    def file_response(self, *args: Any, **options: Any) -> Response:
        """A file, or that the browser has it."""
        made = super().file_response(*args, **options)
        made.headers["Cache-Control"] = "no-cache"
        return made
