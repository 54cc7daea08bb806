"""``walras db``: migrate, back up, restore, check."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
import yaml
from tests.exchange.api.serving import Served
from typer.testing import CliRunner

from walras.cli.exchange import db
from walras.cli.main import app
from walras.errors import InputError
from walras.exchange.service import audit
from walras.exchange.store.database import open_database
from walras.exchange.store.migrate import HEAD, connected, migrate


def _run(*words: str) -> Any:
    return CliRunner().invoke(app, ["db", *words])


def test_both_addresses_are_one_too_many(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--home and --database: are both given"):
        db._url(tmp_path, "sqlite:///x.db")
    assert db._url(None, "postgresql://h/x") == "postgresql://h/x"


def test_a_database_goes_to_a_revision(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/exchange.db"
    assert _run("migrate", "--database", url, "--to", "0001").stdout == "0001\n"
    assert _run("migrate", "--home", str(tmp_path)).stdout == f"{HEAD}\n"


def test_a_broken_chain_is_found_and_the_exit_code_says_so(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/exchange.db"
    migrate(url)
    database = open_database(url)
    database.write(lambda tx: audit.record(tx, 1.0, "ann", "token.create", "k1"))
    database.close()
    with connected(url) as connection:
        connection.execute(sa.text("UPDATE audit_log SET actor = 'bob'"))
    found = _run("check", "--home", str(tmp_path))
    assert found.exit_code == 1
    assert "audit" in found.stdout
    assert "nothing is wrong" not in found.stdout


def test_a_backup_is_restored_beside_the_former_database(tmp_path: Path) -> None:
    home, copy = tmp_path / "home", tmp_path / "copy.db"
    home.mkdir()
    migrate(f"sqlite:///{home}/exchange.db")
    _run("backup", "--home", str(home), "--to", str(copy))
    fresh = _run("restore", str(copy), "--home", str(tmp_path / "fresh"))
    assert fresh.stdout == f"{tmp_path}/fresh\n"
    assert fresh.stderr == ""
    replaced = _run("restore", str(copy), "--home", str(home), "--replace")
    assert replaced.stderr.startswith("the former database is ")
    assert Path(replaced.stderr.split()[-1]).exists()


def test_a_database_is_migrated_backed_up_and_checked(served: Served, tmp_path: Path) -> None:
    def run(*words: str) -> Any:
        return CliRunner().invoke(app, ["db", *words])

    home = str(tmp_path / "home")
    assert run("migrate", "--home", home).stdout.strip()
    copy = tmp_path / "copy.db"
    assert run("backup", "--home", home, "--to", str(copy)).stdout.strip() == str(copy)
    assert run("check", "--home", home).stdout == "nothing is wrong\n"
    assert run("check", "--database", f"sqlite:///{copy}").exit_code == 0
    with pytest.raises(InputError, match="both missing"):
        db._url(None, None)
    with pytest.raises(InputError, match="holds no exchange"):
        db._url(tmp_path, None)


def test_each_command_prints_json_and_yaml(tmp_path: Path) -> None:
    url, copy = f"sqlite:///{tmp_path}/exchange.db", tmp_path / "copy.db"
    assert json.loads(_run("migrate", "--database", url, "-o", "json").stdout) == {"revision": HEAD}
    home = ("--home", str(tmp_path))
    made = _run("backup", *home, "--to", str(copy), "-o", "yaml").stdout
    assert yaml.safe_load(made) == {"file": str(copy)}
    restored = _run("restore", str(copy), *home, "--replace", "-o", "json")
    facts = json.loads(restored.stdout)
    assert (facts["home"], Path(facts["former"]).exists()) == (str(tmp_path), True)
    assert json.loads(_run("check", *home, "-o", "json").stdout) == {"findings": []}
    database = open_database(url)
    database.write(lambda tx: audit.record(tx, 1.0, "ann", "token.create", "k1"))
    database.close()
    with connected(url) as connection:
        connection.execute(sa.text("UPDATE audit_log SET actor = 'bob'"))
    (found,) = json.loads(_run("check", *home, "-o", "json").stdout)["findings"]
    assert "audit" in found["what"]
