"""An instrument of ours has no paper and no official items, and nothing asks for them."""

import pytest

import sociometer as sm
from sociometer.cli.main import run_command
from sociometer.cli.run import command, configs_of
from sociometer.instruments import card_of


@pytest.mark.parametrize(("option", "played"), [((), True), (("--official",), False)])
def test_all_official_items_are_those_of_published_tests(option, played):
    words = ["all", "--model", "baseline/random", *option]
    values = dict(command.make_context("run", words).params)
    names = {config.instrument for config in configs_of(values.pop("instruments"), values)}
    assert ("helpdesk" in names) == played
    assert "sage" in names


def test_only_sociometer_is_cited(capsys):
    assert run_command(["list", "helpdesk"]) == 0
    text = capsys.readouterr().out
    assert "To cite Sociometer:" in text
    assert len(card_of("helpdesk").citations) == 1


def test_a_report_names_no_paper(tmp_path):
    run = sm.run("helpdesk", "baseline/oracle", limit=1, store=tmp_path / "s.db")
    sm.report([run], tmp_path / "r.html")
    assert '<p class="paper">' not in (tmp_path / "r.html").read_text(encoding="utf-8")
