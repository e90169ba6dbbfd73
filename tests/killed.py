"""Runs a command once for each moment at which it can be killed between two changes of files.

Run as: python killed.py FOLDER COMMAND… FOLDER/whole is copied to FOLDER/0, FOLDER/1 …; the command runs in each copy.
In the first it ends by itself; in the others it is killed before or after its first, second … change: a commit, a
statement that commits itself, a file that gets its name. The number of kills is printed.
"""

import contextlib
import importlib
import itertools
import os
import re
import shutil
import signal
import sqlite3
import sys
from pathlib import Path

from forked import PIPE, start

CHANGE = re.compile(r"(COMMIT|VACUUM|PRAGMA wal_checkpoint)|(INSERT|UPDATE|DELETE)")
count = last = 0


def step():
    global count
    count += 1
    if count == last:
        os.kill(os.getpid(), signal.SIGKILL)


class Counting(sqlite3.Connection):
    def execute(self, statement, *values):
        found = CHANGE.match(statement)
        durable = found and (found[1] or not self.in_transaction)
        if durable:
            step()
        cursor = super().execute(statement, *values)
        if durable:
            step()
        return cursor


def main(folder, command):
    global last
    plain = sqlite3.connect
    sqlite3.connect = lambda *given, **named: plain(*given, **{**named, "factory": Counting})
    sys.addaudithook(lambda event, _: step() if event == "os.rename" else None)
    from sociometer.cli.main import run_command

    for last in itertools.count():
        shutil.copytree(folder / "whole", folder / str(last))
        child = os.fork()
        if not child:
            os.chdir(folder / str(last))
            with Path(os.devnull).open("w") as nothing:
                os.dup2(nothing.fileno(), 1)
            code = run_command(command)
            (folder / "loaded").write_text("\n".join(sys.modules))
            os._exit(code)
        status = os.waitpid(child, 0)[1]
        if not os.WIFSIGNALED(status):
            if status or last:
                break
            for name in (folder / "loaded").read_text().splitlines():  # so that the next one need not load them
                with contextlib.suppress(ImportError):
                    importlib.import_module(name)
    if status:
        sys.exit(f"the command failed: {status}")
    print(last - 1)


def kill_everywhere(folder, *command):
    """The folders in which the command was killed, and the one in which it was not."""
    running = start([__file__, folder, *command], stdout=PIPE, stderr=PIPE)
    kills, told = running.communicate()
    assert running.returncode == 0, told
    return [folder / str(number) for number in range(1, int(kills) + 1)], folder / "0"


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
