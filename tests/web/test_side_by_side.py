"""Runs side by side, over HTTP."""

import re

from looking import runs_of
from person import plain

import sociometer as sm


def test_side_by_side_shows_the_verdict_of_compare_and_sorts_the_items(owner, stored):
    random, oracle = runs_of(stored, "sesi")[:2]
    got = owner.get(f"/side-by-side?run={oracle}&run={random}")
    verdict = sm.compare(oracle, random, store=stored).verdict
    assert " ".join(verdict.split()) in plain(got.text)
    rows = re.findall(r'<td class="n">([\d.]+) %</td><td class="n">([\d.]+) %</td>', got.text)
    assert len(rows) == 12
    leads = [float(first) - float(second) for first, second in rows]
    assert leads == sorted(leads, reverse=True) and leads[0] == 100.0
    other = owner.get(f"/side-by-side?run={oracle}&run={random}&order=second").text
    rows = re.findall(r'<td class="n">([\d.]+) %</td><td class="n">([\d.]+) %</td>', other)
    assert [float(a) - float(b) for a, b in rows] == sorted(leads)
    nowhere = owner.get(f"/side-by-side/item?run={oracle}&run={random}&item=nothing")
    assert nowhere.status == 200 and "has no episode of item" in nowhere.text


def test_side_by_side_refuses_runs_of_different_instruments(owner, stored):
    got = owner.get(f"/side-by-side?run={runs_of(stored, 'sesi')[0]}&run={runs_of(stored, 'sage')[0]}")
    assert got.status == 400 and "is a run of sesi" in plain(got.text)
