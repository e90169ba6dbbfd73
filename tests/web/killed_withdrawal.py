"""Withdraws a participant once for each place at which a process can be killed between two changes of files.

Run as: python killed_withdrawal.py FOLDER PARTICIPANT. FOLDER/whole has the store; FOLDER/1, FOLDER/2 … get copies.
"""

import os
import re
import shutil
import signal
import sqlite3
import sys
from pathlib import Path

CHANGE = re.compile(r"(COMMIT|VACUUM|PRAGMA wal_checkpoint)|(INSERT|UPDATE|DELETE)")
passed, last = 0, 0


def step():
    global passed
    passed += 1
    if passed == last:
        os.kill(os.getpid(), signal.SIGKILL)


class Counting(sqlite3.Connection):
    """Counts the moments before and after each change that is on disk when its statement returns."""

    def execute(self, statement, *values):
        found = CHANGE.match(statement)
        durable = found and (found[1] or not self.in_transaction)
        if durable:
            step()
        cursor = super().execute(statement, *values)
        if durable:
            step()
        return cursor


def main(folder, participant):
    global last
    plain = sqlite3.connect
    sqlite3.connect = lambda *given, **named: plain(*given, **{**named, "factory": Counting})
    from sociometer.store.store import Store

    status = 1
    while status:
        last += 1
        shutil.copytree(folder / "whole", folder / str(last))
        child = os.fork()
        if not child:
            Store(folder / str(last) / "s.db").withdraw(participant)
            os._exit(0)
        status = os.waitpid(child, 0)[1]
    print(last - 1)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
