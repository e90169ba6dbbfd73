"""Talks with tools as a program that kills itself between a call and its result: STORE URL PAIRS KILL_AT."""

import json
import os
import signal
import sys

import sociometer as sm
from sociometer.instruments.helpdesk.play import Ledger


def main():
    store, url, talks, kill_at = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    run, count = Ledger.run, 0

    def counted(ledger, name, arguments):
        nonlocal count
        count += 1
        if count == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        return run(ledger, name, arguments)

    Ledger.run = counted
    played = sm.run("helpdesk", f"vllm/m@{url}#1", settings={"talks": talks}, store=store, in_flight=1, retries=0)
    print(json.dumps([[one.item.id, one.outcome.trace, one.outcome.talk] for one in played.episodes("cases")]))


main()
