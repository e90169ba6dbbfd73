"""Runs the examples of a page and compares what they print with what the page shows.

An example is a block marked `console`: a line that begins with `$ ` is a command, with the lines that follow a `\\` at
its end, and the lines below it are what a terminal of 100 columns shows in the end. All examples of a page
run in one empty folder with a store of its own. A block with a title (```python title="agent.py") is first written to
that file, and a script that the page links to is copied with its path. Ids of runs, digests, keys, dates, times and the
version may differ.

    python scripts/examples.py PAGE...            exit 1 if a page shows something else
    python scripts/examples.py --write PAGE...    put the output into the pages
"""

import argparse
import difflib
import fcntl
import os
import pty
import re
import shlex
import shutil
import signal
import struct
import sys
import tempfile
import termios
from pathlib import Path
from typing import NoReturn

import sociometer.cli.compare  # noqa: F401 - before the copies are made
from sociometer.cli.main import main as main_of_sociometer

COLUMNS, ROWS = 100, 50
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ ((?:.*\\\n)*.*)$", re.MULTILINE)
FILE = re.compile(r'^```\w+ title="([\w.-]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)
SCRIPT = re.compile(r"\]\(([\w./-]+\.py)\)")
ROOT = Path(__file__).resolve().parent.parent
VARIES = (
    (re.compile(r"\b(egosocial|helpdesk|sage|seceu|sesi|socialeval)-[a-z0-9]{5}\b"), r"\1-xxxxx"),
    (re.compile(r"( · [\d.]+/(s|min))? · (\d+ min )?\d+ s$", re.MULTILINE), " · n/s · n s"),
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d"), "YYYY-MM-DD hh:mm"),
    (re.compile(r"\bon \d{1,2} [A-Z][a-z]+ \d{4}\b"), "on D Month YYYY"),
    (re.compile(r"\b(plan|root)(\W+)[0-9a-f]{64}\b"), r"\1\2 of 64 digits"),
    (re.compile(r"\bSHA256:[\w+/]{43}"), "SHA256:43 letters"),
    (re.compile(r"\bSociometer \d+\.\d+\.\d+\b"), "Sociometer x.y.z"),
    (re.compile(r"\bversion = \{\d+\.\d+\.\d+\}"), "version = {x.y.z}"),
)


def main() -> int:
    """Checks or rewrites the pages; the exit code says whether all of them show what their commands print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="+", type=Path)
    parser.add_argument("--write", action="store_true", help="put the output into the pages")
    options = parser.parse_args()
    wrong = 0
    for page in options.pages:
        shown = page.read_text(encoding="utf-8")
        found = with_output(shown, page.resolve().parent)
        if options.write:
            page.write_text(found, encoding="utf-8")
        else:
            before, after = (masked(text).splitlines() for text in (shown, found))
            lines = difflib.unified_diff(before, after, f"{page}, as written", f"{page}, as run", "", "", 2, "")
            difference = "\n".join(lines)
            wrong += bool(difference)
            sys.stdout.write(difference)
    return 1 if wrong else 0


def with_output(page: str, place: Path) -> str:
    """The page in the folder `place` with the output of its examples as they run now."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        for title, text in FILE.findall(page):
            (folder / title).write_text(text, encoding="utf-8")
        for link in SCRIPT.findall(page):
            copy = folder / (place / link).resolve().relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(place / link, copy)
        return BLOCK.sub(lambda block: f"```console\n{run_block(block.group(1), folder)}```", page)


def run_block(block: str, folder: Path) -> str:
    """The commands of a block, each followed by what it prints."""
    commands = COMMAND.findall(block)
    outputs = [(command, printed(command, folder)) for command in commands]
    return "\n".join(f"$ {command}\n{output}" for command, output in outputs)


def printed(command: str, folder: Path) -> str:
    """What a terminal shows when a command has ended."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "SOCIOMETER_STORE": str(folder / "sociometer.db"),
        "COLUMNS": str(COLUMNS),
        "TERM": "xterm",
        "LC_ALL": "C.UTF-8",
    }
    with open(os.devnull, "rb") as nothing:  # noqa: PTH123
        process = os.fork()  # a copy of this process, which has loaded Sociometer already
        if process == 0:
            for place, stream in enumerate((nothing.fileno(), theirs, theirs)):
                os.dup2(stream, place)
            os.chdir(folder)
            os.environ.update(environment)
            act(command)
    os.close(theirs)
    output = read_all(ours)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    text = on_screen(output.decode()).replace(f"{folder}/", "")
    if code not in (0, 1, -signal.SIGKILL):  # a page may show a gate that did not hold, and a run that was killed
        raise SystemExit(f"$ {command}\nexit {code}: {text}")
    return text


def on_screen(output: str) -> str:
    """The lines that stay on a terminal: a progress bar is erased, and that of a killed run is left out."""
    lines, row, column = [""], 0, 0
    for part in re.findall(r"\x1b\[[0-9;?]*[a-zA-Z]|\r|\n|[^\x1b\r\n]+", output):
        if part == "\n":
            row += 1
            lines += [""] * (row == len(lines))
        elif part == "\r":
            column = 0
        elif part.startswith("\x1b"):
            row -= int(part[2:-1] or 1) if part.endswith("A") else 0
            lines[row] = "" if part == "\x1b[2K" else lines[row]
        else:
            lines[row] = lines[row][:column].ljust(column) + part + lines[row][column + len(part) :]
            column += len(part)
    stayed = [line.rstrip() for line in lines[: row + bool(lines[row])] if "━" not in line]
    return "".join(f"{line}\n" for line in stayed)


def act(command: str) -> NoReturn:
    """Runs a command in place of this process: Sociometer's own without a shell."""
    words = shlex.split(command.replace("\\\n", ""))
    if words[0] == "sociometer" and not set(command) & set("|&;<>$`*"):
        sys.argv[:] = words
        # Those of this process may belong to a file, of which Python remembers the position.
        sys.stdout, sys.stderr = (open(place, "w", encoding="utf-8", closefd=False) for place in (1, 2))  # noqa: SIM115
        try:
            main_of_sociometer()
        except SystemExit as ended:
            sys.stdout.flush()
            os._exit(ended.code if isinstance(ended.code, int) else 0)
    os.execv("/bin/sh", ["sh", "-c", command])  # noqa: S606


def read_all(terminal: int) -> bytes:
    """All that is written to a terminal until its other end is closed."""
    parts = []
    try:
        while part := os.read(terminal, 65536):
            parts.append(part)
    except OSError:  # Linux reports the closed end as an error
        pass
    os.close(terminal)
    return b"".join(parts)


def masked(page: str) -> str:
    """The page without what differs from run to run."""
    for pattern, replacement in VARIES:
        page = pattern.sub(replacement, page)
    return page


if __name__ == "__main__":
    sys.exit(main())
