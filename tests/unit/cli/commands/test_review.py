"""`stream-lsh review` on a real terminal: keys are sent once the prompt is there, and the labels go to `train`."""

import csv
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.patience import PATIENCE
from tests.unit.cli.runs import ran

PROMPT = "u undo, q quit"
SURNAMES = ("smith", "jones", "brown", "taylor", "evans", "thomas", "roberts", "walker", "wright", "green")


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """Sixty people twice; a third of the second records differ in one field, and the notes are not compared."""
    lines = ["id,given_name,surname,dob,city,remark"]
    for number in range(60):
        name, born = f"given{number % 23}", f"19{30 + number}-0{1 + number % 9}-1{number % 9}"
        surname = SURNAMES[number % len(SURNAMES)] + chr(97 + number % 7)
        other = born if number % 3 else f"19{31 + number}-0{1 + number % 9}-1{number % 9}"
        lines += [f"{number}a,{name},{surname},{born},leeds,note \x1b[31m{number}"]
        lines += [f"{number}b,{name if number % 4 else 'x'},{surname},{other},york,"]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


class Terminal:
    """The command on a terminal of its own."""

    def __init__(self, folder: Path, *arguments: str, columns: int = 100) -> None:
        self._master, slave = pty.openpty()
        termios.tcsetwinsize(slave, (40, columns))
        command = [sys.executable, "-m", "stream_lsh", "review", *arguments]
        environment = {**os.environ, "TERM": "xterm", "NO_COLOR": "1"}
        self.process = subprocess.Popen(  # noqa: S603 - our own interpreter
            command, stdin=slave, stdout=slave, stderr=subprocess.PIPE, cwd=folder, env=environment
        )
        self.shown = ""
        self._slave = slave

    def until(self, text: str = PROMPT) -> str:
        """The output up to a text, from the last call on."""
        deadline = time.monotonic() + PATIENCE
        while text not in self.shown:
            ready, _, _ = select.select([self._master], [], [], 1)
            assert time.monotonic() < deadline, self.shown
            if not ready:
                continue
            self.shown += os.read(self._master, 4096).decode().replace("\r\n", "\n")
        found, _, self.shown = self.shown.partition(text)
        return found

    def press(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def echoes(self) -> bool:
        """Whether the terminal shows keys, as it does outside of the command."""
        return bool(termios.tcgetattr(self._slave)[3] & termios.ECHO)

    def end(self) -> tuple[int, str]:
        _, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, err.decode()

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()
        os.close(self._master)
        os.close(self._slave)


@contextmanager
def terminal(folder: Path, *arguments: str, columns: int = 100) -> Iterator[Terminal]:
    made = Terminal(folder, "people.csv", "--profile", "people", "--labels", "labels.csv", *arguments, columns=columns)
    try:
        yield made
    finally:
        made.close()


def labels(folder: Path) -> list[list[str]]:
    with (folder / "labels.csv").open() as file:
        return [*csv.reader(file)]


def ids(shown: str) -> list[str]:
    found = re.search(r"^(\w+) and (\w+): ", shown, re.MULTILINE)
    assert found, shown
    return [*found.groups()]


def bits(shown: str) -> tuple[float, float]:
    """The score of the pair, and the threshold of a match."""
    total, match = re.search(r": [\w ]+, (\S+) bits", shown), re.search(r"Match from [\d.]+ \((\S+) bits\)", shown)
    assert total, shown
    assert match, shown
    return float(total[1]), float(match[1])


def test_answers_are_stored_at_once_undone_skipped_and_resumed(people: Path) -> None:
    with terminal(people) as review:
        first = review.until()
        review.press("s")
        second = review.until()
        assert labels(people) == [["left", "right", "match"], [*ids(first), "1"]]
        review.press("d")
        third = review.until()
        review.press("u")  # the second one again
        assert ids(review.until()) == ids(second)
        assert labels(people)[1:] == [[*ids(first), "1"]]
        review.press("x\x1b[D ")  # an unknown key and an arrow are ignored, and the second one is skipped
        assert ids(review.until()) == ids(third)
        review.press("D")
        review.until()
        review.press("q")
        code, err = review.end()
        assert (code, review.echoes()) == (0, True)
    assert labels(people)[1:] == [[*ids(first), "1"], [*ids(third), "0"]]
    assert "2 labels in labels.csv: 1 same, 1 different; 1 skipped, " in err
    with terminal(people) as again:
        assert ids(again.until()) == ids(second), "pairs with labels are not shown again"
        again.press("\x04")
        assert again.end()[0] == 0
    assert len(labels(people)) == 3


def test_the_pairs_nearest_to_the_threshold_come_first(people: Path) -> None:
    distances = []
    with terminal(people) as review:
        for _ in range(12):
            score, threshold = bits(review.until())
            distances.append(abs(score - threshold))
            review.press(" ")
        review.until()
    assert distances == sorted(distances)
    assert distances[0] < distances[-1]


def test_both_records_are_side_by_side_with_columns_that_are_not_compared(people: Path) -> None:
    with terminal(people) as review:
        shown = review.until()
        one, other = ids(shown)
    fields = [line.split() for line in (people / "people.csv").read_text().replace(",", " ").splitlines()]
    (given,) = [row[1] for row in fields if row[0] == one]
    (second,) = [row[1] for row in fields if row[0] == other]
    assert re.search(rf"^given_name .*{given} +{second}$", shown, re.MULTILINE), shown
    assert re.search(r"^remark +(note \\x1b\[31m\d+|-) +(note \\x1b\[31m\d+|-)$", shown, re.MULTILINE), shown
    assert "\x1b[31m" not in shown


def test_the_labels_train_a_profile(people: Path) -> None:
    with terminal(people) as review:
        for _ in range(4):
            one, other = ids(review.until())
            review.press("s" if one[:-1] == other[:-1] else "d")
        review.until()
        review.press("q")
        assert review.end()[0] == 0
    run = ran("train", "people.csv", "--profile", "people", "--labels", "labels.csv", "-o", "x.toml", cwd=people)
    assert run.returncode == 0, run.stderr
    assert (people / "x.toml").exists()


def test_an_interrupt_keeps_the_answers_and_restores_the_terminal(people: Path) -> None:
    with terminal(people) as review:
        first = review.until()
        review.press("s")
        review.until()
        assert not review.echoes()
        review.process.send_signal(signal.SIGINT)
        code, err = review.end()
        assert (code, review.echoes()) == (130, True)
    assert "interrupted" in err
    assert "Traceback" not in err
    assert labels(people)[1:] == [[*ids(first), "1"]]


def test_labels_of_others_are_kept_and_their_pairs_not_shown(people: Path) -> None:
    with terminal(people) as review:
        one, other = ids(review.until())
    (people / "labels.csv").write_text(f"left,right,match\nelsewhere,nowhere,yes\n{other},{one},no\n")
    with terminal(people) as review:
        second = ids(review.until())
        assert second != [one, other]
        review.press("s")
        review.until()
    kept = [["elsewhere", "nowhere", "yes"], [other, one, "no"], [*second, "1"]]
    assert labels(people)[1:] == kept


def test_without_a_terminal_it_is_one_error(people: Path) -> None:
    done = ran("review", "people.csv", "--profile", "people", "--labels", "labels.csv", cwd=people)
    assert done.returncode == 2
    assert done.stderr.decode().startswith("stream-lsh: review needs a terminal, got a standard input that is none: ")
    assert done.stderr.count(b"\n") == 1
    assert not (people / "labels.csv").exists()


def test_a_file_that_is_no_labels_is_refused_before_it_is_replaced(people: Path) -> None:
    (people / "labels.csv").write_text("left,right\n1a,1b\n")
    with terminal(people) as review:
        code, err = review.end()
    assert code == 2
    assert "got another header, expected left,right,match" in err
    assert (people / "labels.csv").read_text() == "left,right\n1a,1b\n"


def test_its_help_needs_no_terminal() -> None:
    assert ran("review", "--help").returncode == 0
