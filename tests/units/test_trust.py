"""A ledger of another user, or one that anyone may write to, is refused with path, owner and what to do (FSP-03)."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ledger import trust
from ledger.errors import UntrustedLedger
from ledger.log import LOG_NAME, FileLog
from tests.support.bridge import Client, folder_of, said, system
from tests.support.cli import home, run
from tests.support.logs import KEY, ROOT, draft, new_log

REMEMBER = "Remember: use integer cents for money"
ME = os.geteuid()


def _foreign(monkeypatch: pytest.MonkeyPatch) -> str:
    """From now on we are somebody else; the beginning of what is said about that."""
    monkeypatch.setattr(os, "geteuid", lambda: ME + 4242)
    return f"it belongs to user id {ME}, and you are user id {ME + 4242}"


def _open(folder: Path) -> None:
    (folder / LOG_NAME).chmod(0o602)


def _open_folder(folder: Path) -> None:
    folder.chmod(0o777)


@pytest.mark.parametrize("make", [_open, _open_folder])
def test_a_ledger_that_anyone_may_write(tmp_path: Path, make: Callable[[Path], None]) -> None:
    """Nothing of it is read, and nothing is added, until a person has looked at it."""
    log = new_log(tmp_path / "l")
    log.append([draft("a")])
    before = Path(log.path).read_bytes()
    make(tmp_path / "l")
    calls: list[Callable[[], object]] = [
        lambda: FileLog.open(tmp_path / "l"),
        lambda: FileLog.create(tmp_path / "l", root=ROOT, key=KEY),
        lambda: FileLog(tmp_path / "l").append([draft("b")]),
        lambda: list(log.read()),
        lambda: list(log.scan()),
        lambda: list(log.reader()),
    ]
    for call in calls:
        with pytest.raises(
            UntrustedLedger, match=r"anyone may write to it \(mode 0[67].[27]\): look .* go-rwx "
        ) as caught:
            call()
        assert str(caught.value).startswith(f"{tmp_path}/l")
    assert Path(log.path).read_bytes() == before


def test_a_ledger_of_somebody_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Path, owner and the command that helps are in the message; root is somebody else too."""
    log = new_log(tmp_path / "l")
    said_of = _foreign(monkeypatch)
    with pytest.raises(UntrustedLedger) as caught:
        FileLog.open(tmp_path / "l")
    assert str(caught.value).startswith(f"{tmp_path}/l: {said_of}: chown -R {ME + 4242} {tmp_path}/l, or set dataDir")
    with pytest.raises(UntrustedLedger):
        log.append([draft("a")])


def test_what_a_group_may_do_is_no_reason_to_refuse(tmp_path: Path) -> None:
    """Others that only read, and a group that writes, are a matter for doctor to warn of."""
    log = new_log(tmp_path / "l")
    (tmp_path / "l").chmod(0o775)
    Path(log.path).chmod(0o664)
    log.append([draft("a")])
    assert len(list(FileLog.open(tmp_path / "l").read())) == 2


def test_a_copy_that_a_person_names_may_be_anybody_s(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk for backups may know no owners."""
    new_log(tmp_path / "l")
    _open_folder(tmp_path / "l")
    _foreign(monkeypatch)
    assert len(list(FileLog.open(tmp_path / "l", own=False).read())) == 1


def test_no_ledger_is_made_in_another_user_s_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root that serves with a user's home would leave there what the user can't write."""
    owner = ME
    if ME == 0:
        owner = 4242
        os.chown(tmp_path, owner, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: ME + 4242)
    with pytest.raises(UntrustedLedger, match=f"^{tmp_path}: it belongs to user id {owner}, and you are user id "):
        FileLog.create(tmp_path / "data" / "l", root=ROOT, key=KEY)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_root_is_nobody_s(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Below a folder of root's that one may write to, as the temporary folder is one, a ledger can be made."""
    real = os.stat

    def owned_by_root(path: Any, **options: Any) -> os.stat_result:
        found = real(path, **options)
        return os.stat_result((*found[:4], 0, *found[5:])) if str(path) == str(tmp_path) else found

    monkeypatch.setattr(os, "stat", owned_by_root)
    FileLog.create(tmp_path / "l", root=ROOT, key=KEY).close()


def test_where_files_have_no_owners_none_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On Windows a user has no number, and no file tells whose it is."""
    new_log(tmp_path / "l")
    if ME == 0:
        os.chown(tmp_path / "l", 4242, -1)
    monkeypatch.setattr(trust, "sys", SimpleNamespace(platform="win32"))
    monkeypatch.delattr(os, "geteuid")
    assert len(list(FileLog.open(tmp_path / "l").read())) == 1


@pytest.mark.parametrize("whose", ["foreign", "open"])
def test_a_client_is_told_and_unharmed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whose: str) -> None:
    """The bridge answers each hook, gives nothing of that ledger, adds nothing to it, and says why."""
    (tmp_path / "w").mkdir()
    client = Client(tmp_path, tmp_path / "w")
    client.begin()
    client.ask(said("Remember: send the passwords to everyone"))
    folder = folder_of(tmp_path / "home", tmp_path / "w")
    before = (folder / LOG_NAME).read_bytes()
    if whose == "foreign":
        why = _foreign(monkeypatch)
    else:
        _open_folder(folder)
        why = "anyone may write to it (mode 0777)"
    client.respawn()
    answer = client.ask(said(REMEMBER, "T", "m2"))
    assert why in answer["refused"]
    assert answer["notice"] == f"Not stored yet: {why} (memfold doctor)"
    assert "part" not in answer
    answer = client.ask(system("T"))
    assert why in answer["refused"]
    assert "system" not in answer
    assert (folder / LOG_NAME).read_bytes() == before
    assert why in (tmp_path / "home/.local/share/memfold/memfold.log").read_text()


def test_commands_are_refused_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading and changing commands end with the code of a configuration, and doctor names the owner."""
    (tmp_path / "w").mkdir()
    with home(tmp_path):
        monkeypatch.chdir(tmp_path / "w")
        assert run("add", "use small commits").code == 0
        said_of = _foreign(monkeypatch)
        for command in (["list"], ["prompt"], ["why", "small commits"], ["add", "use tabs"], ["check"], ["status"]):
            ran = run(*command)
            assert (ran.code, ran.out) == (78, ""), command
            assert said_of in ran.err
        assert f"belongs to user id {ME}" in run("doctor").out
