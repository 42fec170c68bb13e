"""What was sealed can't change unnoticed, and what changes no event changes no head (RFC 6962, SPEC 21)."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.check import check
from ledger.events import Draft, LedgerErasedData, LedgerSealedData
from ledger.ids import MonotonicIds
from ledger.leaves import Leaves
from ledger.log import FileLog
from ledger.problems import DAMAGE, Kind
from ledger.repair import find_damage, repair
from ledger.steps import open_steps
from projections.merkle import EMPTY, MerkleTree
from replay.heads import present_head
from replay.tlog import Head
from replay.verify import verify
from tests.support.effort import examples
from tests.support.logs import draft, line_of, new_log, raw_log

_DAMAGE = (b"garbage", b"\0\0\0", b'{"type":"memory.added","sp', b"<<<<<<< ours", b"\xff\xfe", b"[1,2]")


def seal(log: FileLog) -> None:
    """Write a head."""
    tree = present_head(log)
    assert tree is not None
    log.append([Draft(source="memfold", time=None, data=LedgerSealedData(tree.size, tree.root.hex()))])


def _ledger(folder: Path, sizes: list[int]) -> FileLog:
    """A ledger with so many memories between its heads."""
    log = new_log(folder)
    for number, size in enumerate(sizes):
        log.append([draft(f"m{number}.{index}") for index in range(size)])
        seal(log)
    return log


def _in_folder(check_it: Callable[[Path], None]) -> None:
    with tempfile.TemporaryDirectory() as name:
        check_it(Path(name) / "ledger")


_sizes = st.lists(st.integers(0, 6), min_size=1, max_size=5)


@settings(max_examples=examples(60))
@given(_sizes, st.data())
def test_a_change_is_placed_between_two_heads(sizes: list[int], data: st.DataObject) -> None:
    """A line that is changed, taken out, doubled under another id or moved: the first broken head tells where."""

    def run(folder: Path) -> None:
        log = _ledger(folder, sizes)
        head = verify(log).head
        assert verify(log, head).breaks == ()
        lines = Path(log.path).read_bytes().splitlines(keepends=True)
        sealed = max(number for number, line in enumerate(lines) if b'"ledger.sealed"' in line)
        at = data.draw(st.integers(0, sealed - 1), label="line")
        how = data.draw(st.sampled_from(["change", "remove", "insert", "swap"]), label="how")
        if how == "change":
            lines[at] = lines[at].replace(b'"time":"2', b'"time":"3') if b'"time":"2' in lines[at] else line_of(at, "x")
        elif how == "remove":
            del lines[at]
        elif how == "insert":
            lines.insert(at, line_of(at, "inserted", number=900_000))
        else:
            lines[at], lines[at + 1] = lines[at + 1], lines[at]
        Path(log.path).write_bytes(b"".join(lines))
        found = verify(log)
        assert found.breaks
        first = found.breaks[0]
        assert first.first_line <= at + 1 <= first.last_line + 1
        assert [one.standing for one in verify(log, head).given] == ["broken"]

    _in_folder(run)


@settings(max_examples=examples(60))
@given(_sizes, st.data())
def test_what_is_no_event_changes_no_head(sizes: list[int], data: st.DataObject) -> None:
    """Damage between lines and within them, line ends of another system, copies of lines; and a repair of all that."""

    def run(folder: Path) -> None:
        log = _ledger(folder, sizes)
        before = verify(log).head
        lines = Path(log.path).read_bytes().splitlines(keepends=True)
        for _ in range(data.draw(st.integers(0, 4))):
            at = data.draw(st.integers(0, len(lines) - 1))
            piece = data.draw(st.sampled_from(_DAMAGE))
            how = data.draw(st.sampled_from(["line", "glued", "behind", "copy", "crlf", "fused"]))
            if how == "line":
                lines.insert(at, piece + b"\n")
            elif how == "glued":
                lines[at] = piece + lines[at]
            elif how == "behind":
                lines[at] = lines[at].rstrip(b"\r\n") + piece + b"\n"
            elif how == "copy":
                lines.append(lines[at])
            elif how == "crlf":
                lines[at] = lines[at].rstrip(b"\r\n") + b"\r\n"
            elif at + 1 < len(lines):
                lines[at : at + 2] = [lines[at].rstrip(b"\r\n") + lines[at + 1]]
        Path(log.path).write_bytes(b"".join(lines))
        found = verify(log, before)
        assert (found.head, found.breaks) == (before, ())
        assert [one.standing for one in found.given] == ["holds"]
        events = list(log.read())
        to_do = find_damage(log.directory) or open_steps(log.path)
        repaired = repair(log.directory, time=None, new_id=MonotonicIds())
        assert bool(repaired) == bool(to_do)
        assert list(log.read()) == [*events, *repaired]
        kinds = {problem.kind for problem in check(log.directory)}
        assert kinds.isdisjoint(DAMAGE | {Kind.FUSED_LINE})
        assert [one.standing for one in verify(log, found.head).given] == ["holds"]
        assert repair(log.directory, time=None, new_id=MonotonicIds()) == ()

    _in_folder(run)


@settings(max_examples=examples(40))
@given(_sizes, st.data())
def test_leaves_in_pieces_are_leaves_in_one(sizes: list[int], data: st.DataObject) -> None:
    """A tree that goes on from a cursor is the tree of the whole file, whatever was appended meanwhile."""

    def run(folder: Path) -> None:
        log = new_log(folder)
        tree, state, cursor = MerkleTree(), EMPTY, Leaves(log.path).cursor
        for size in sizes:
            with Path(log.path).open("ab") as file:
                file.write(data.draw(st.sampled_from([b"", *_DAMAGE])))
                file.write(data.draw(st.sampled_from([b"", b"\n"])))
            log.append([draft("m") for _ in range(size)])
            leaves = Leaves(log.path, cursor)
            state = tree.run(state, (leaf.data for leaf in leaves))
            cursor = leaves.cursor
        assert state == tree.run(EMPTY, (leaf.data for leaf in Leaves(log.path)))
        assert state.size == len(list(log.read()))

    _in_folder(run)


class _Log:
    """A log that things happen to, and the heads that somebody keeps of it on the way."""

    def __init__(self, folder: Path, data: st.DataObject) -> None:
        self.log = new_log(folder)
        self.data = data
        self.kept: list[Head] = []
        self.ended: dict[int, bool] = {}
        """Which kept heads a purge has ended, and whether it came right behind them."""
        self.is_whole = True

    def add(self) -> None:
        """Two memories more."""
        self.log.append([draft("m"), draft("n")])

    def seal(self) -> None:
        """A head in the log."""
        seal(self.log)

    def lie(self) -> None:
        """A head of too few lines, of too many, or of other ones."""
        size = verify(self.log).head.size + self.data.draw(st.integers(-2, 2), label="more")
        self.log.append([Draft(source="memfold", time=None, data=LedgerSealedData(max(0, size), "0" * 64))])

    def keep(self) -> None:
        """A head elsewhere."""
        self.kept.append(verify(self.log).head)

    def purge(self) -> None:
        """As a purge does: another text in a line, and behind it the event with both roots."""
        old, lines = verify(self.log).head, self._lines()
        titled = [index for index, line in enumerate(lines) if b'"title":"' in line]
        for index in titled and [self.data.draw(st.sampled_from(titled), label="purged")]:
            lines[index] = lines[index].replace(b'"title":"', b'"title":"-')
        self._write(lines)
        for number, head in enumerate(self.kept):
            self.ended.setdefault(number, head == old)
        roots = old.root.hex(), verify(self.log).head.root.hex()
        self.log.append([Draft(source="memfold", time=None, data=LedgerErasedData((), *roots))])

    def damage(self) -> None:
        """A line that is lost, or all lines behind it."""
        lines = self._lines()
        at = self.data.draw(st.integers(0, len(lines)), label="damaged")
        self._write([*lines[:at], *self.data.draw(st.sampled_from([[], [b"garbage\n", *lines[at + 1 :]]]))])
        self.is_whole = False

    def join(self) -> None:
        """Two lines that became one."""
        lines = self._lines()
        if len(lines) > 1:
            at = self.data.draw(st.integers(0, len(lines) - 2), label="joined")
            self._write([*lines[:at], lines[at].rstrip(b"\n") + lines[at + 1], *lines[at + 2 :]])

    def _lines(self) -> list[bytes]:
        return Path(self.log.path).read_bytes().splitlines(keepends=True)

    def _write(self, lines: list[bytes]) -> None:
        Path(self.log.path).write_bytes(b"".join(lines))

    def must_fit(self) -> None:
        """No range is impossible; a head that was kept holds unless a purge has ended it, and isn't broken then."""
        foreign = Head("memfold/ledger/another", 3, b"r" * 32)
        found = verify(self.log, *self.kept, foreign)
        for broken in found.breaks:
            assert 1 <= broken.first_line <= broken.last_line <= max(1, len(self._lines()))
        if self.is_whole:
            assert found.given[-1].standing == "other"
            assert all(broken.offset is not None for broken in found.breaks)
            for number, one in enumerate(found.given[:-1]):
                assert one.standing in ({"holds", "purged"} if number in self.ended else {"holds"})
                assert one.standing == "holds" or one.matched or not self.ended[number]


_steps = st.lists(
    st.sampled_from([_Log.add, _Log.seal, _Log.lie, _Log.keep, _Log.keep, _Log.purge, _Log.damage, _Log.join]),
    min_size=1,
    max_size=12,
)


@settings(max_examples=examples(90))
@given(_steps, st.data())
def test_a_verdict_fits_the_log(steps: list[Callable[[_Log], None]], data: st.DataObject) -> None:
    """Whatever becomes of a log: true and false heads, purges, damage, and heads that were kept at any time."""

    def run(folder: Path) -> None:
        one = _Log(folder, data)
        for step in steps:
            step(one)
        one.must_fit()

    _in_folder(run)


def test_the_line_end_is_no_part_of_a_leaf(tmp_path: Path) -> None:
    """Whether a system has put a carriage return before the line feed or not, the leaf is the same."""
    lines = [line_of(seq).rstrip() for seq in range(3)]
    log = raw_log(tmp_path, lines[0] + b"\r\n" + lines[1] + b"\n" + lines[2] + b"\r\n")
    assert [leaf.data for leaf in Leaves(log.path)] == lines
