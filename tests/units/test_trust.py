"""A ledger of another user, or one that anyone may write to, is refused with path, owner and what to do (FSP-03)."""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from ledger import trust
from ledger.check import check
from ledger.errors import UntrustedLedger
from ledger.log import LOG_NAME, FileLog
from ledger.problems import Kind
from ledger.trust import DERIVED, SPOOL, open_own, open_own_new, require_place, untrusted
from memfold.bridge.spool import Spool, spooled
from memfold.memory_file import kept as memory_file
from replay.heads import TREE_NAME, present_head
from replay.kept import facts_path, keep_all
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


def _chown(path: Path) -> None:
    if ME != 0:
        pytest.skip("only root can give a file away")
    os.chown(path, 4242, -1)


_SPOILT: dict[str, Callable[[Path], None]] = {
    "a foreign file": _chown,
    "a foreign folder": lambda path: _chown(path.parent),
    "an open file": lambda path: path.chmod(0o602),
    "an open folder": lambda path: path.parent.chmod(0o777),
}
spoilt = pytest.mark.parametrize("spoil", _SPOILT.values(), ids=_SPOILT)
Spoil = Callable[[Path], None]


@spoilt
def test_what_waits_is_another_s_word(tmp_path: Path, spoil: Spoil) -> None:
    """A spool, or a file in it, that others may have written is not stored; check and doctor name it."""
    log = new_log(tmp_path / "l")
    Spool(log.directory).keep([draft("planted")])
    assert spooled(log.directory) == 1
    (path,) = (tmp_path / "l" / SPOOL).iterdir()
    spoil(path)
    assert (Spool(log.directory).take(), spooled(log.directory)) == ([], 0)
    assert [one.kind for one in check(log.directory)] == [Kind.UNTRUSTED_FILE]
    assert [place for place, _ in untrusted(log.directory)] in ([str(path)], [str(path.parent)])


@spoilt
def test_what_is_derived_is_another_s_word(tmp_path: Path, spoil: Spoil) -> None:
    """Nothing that others may have written is read from ``derived/``, and no text of a memory is added to it."""
    log = new_log(tmp_path / "l")
    log.append([draft("a")])
    keep_all(log.directory, log.read())
    assert present_head(log) is not None
    memory_file.save(log.directory, memory_file.Kept(position=7))
    spoil(Path(facts_path(log.directory)))
    for name in (TREE_NAME, "memory_file.json"):
        spoil(Path(log.directory) / DERIVED / name)
    before = {path: path.read_bytes() for path in (Path(log.directory) / DERIVED).iterdir()}
    assert keep_all(log.directory, log.read()) == 1  # none is found
    assert memory_file.load(log.directory) == memory_file.Kept()
    log.append([draft("b")])
    head = present_head(log)
    keep_all(log.directory, log.read())
    assert head is not None
    assert head.size == 3
    assert {path: path.read_bytes() for path in before} == before


def test_no_link_is_followed_beside_the_log(tmp_path: Path) -> None:
    """Memfold makes none there: one that others have left would lead a write to any file."""
    mine = tmp_path / "mine"
    mine.write_text("mine")
    (tmp_path / DERIVED).mkdir(mode=0o700)
    link = tmp_path / DERIVED / "facts.jsonl"
    link.symlink_to(mine)
    calls: list[Callable[[], int]] = [
        lambda: open_own(str(link)),
        lambda: open_own_new(str(link), os.O_WRONLY | os.O_TRUNC),
    ]
    for opens in calls:
        with pytest.raises(OSError, match="symbolic"):
            opens()
    assert mine.read_text() == "mine"


def test_a_prompt_is_checked_without_what_is_kept(tmp_path: Path) -> None:
    """``verify --prompts`` makes them from the log alone, whatever ``derived/`` says."""
    (tmp_path / "w").mkdir()
    client = Client(tmp_path, tmp_path / "w")
    client.begin()
    client.ask(said(REMEMBER))
    client.ask(system("T"))
    folder = folder_of(tmp_path / "home", tmp_path / "w")
    path = Path(facts_path(str(folder)))
    path.write_bytes(_forged(path.read_bytes()))
    with home(tmp_path):
        assert "pounds" in run("list", "--ledger", str(folder)).out
        assert run("verify", "--prompts", "--ledger", str(folder)).code == 0


def _forged(lines: bytes) -> bytes:
    """The facts with another text and a digest that fits."""
    forged: list[bytes] = []
    for line in lines.splitlines():
        fields = json.loads(line)
        body = msgspec.json.encode(json.loads(json.dumps(fields["f"]).replace("cents", "pounds")))
        fields["s"] = hashlib.blake2b(b"%b %b" % (fields["k"].encode(), body), digest_size=8).hexdigest()
        forged.append(msgspec.json.encode({**fields, "f": msgspec.Raw(body)}) + b"\n")
    return b"".join(forged)


def test_a_folder_of_root_is_not_refused_to_a_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user who isn't root may make a ledger below a folder of root's; whether the mode lets him is another matter."""
    monkeypatch.setattr(os, "geteuid", lambda: 4242)
    assert Path("/").stat().st_uid == 0
    require_place("/a folder that is not there/l")


def test_a_refusal_names_the_folder_that_is_another_s(tmp_path: Path) -> None:
    """Not the file in it: that is the place where something has to be done."""
    path = tmp_path / "l" / DERIVED / "x"
    path.parent.mkdir(parents=True)
    path.touch()
    path.parent.chmod(0o777)
    with pytest.raises(PermissionError, match=r"anyone may write to it \(mode 0777\)") as caught:
        open_own(str(path))
    assert (caught.value.errno, caught.value.filename) == (errno.EACCES, str(path.parent))


def test_a_log_is_asked_whose_it_is_unless_told_not_to(tmp_path: Path) -> None:
    """Also where it was neither opened nor created, but made as an object."""
    tmp_path.chmod(0o777)
    with pytest.raises(UntrustedLedger):
        FileLog(tmp_path).scan()
