"""Every frozen form that ships is small and can be played, and no frozen version has changed since."""

import pytest

from sociometer.cli.forms import changed_since_frozen
from sociometer.engine.forms import files, read_form
from sociometer.instruments import cards, load


@pytest.mark.parametrize("name", cards())
def test_items_and_prompts_of_a_frozen_version_have_not_changed(name):
    assert changed_since_frozen(load(name)) == ""


@pytest.mark.parametrize("name", cards())
def test_frozen_forms_are_small_and_today_s_code_reads_their_items(name):
    instrument = load(name)
    for path in files(instrument):
        assert path.stat().st_size < 1 << 20
        form = read_form(path)
        assert path.name.startswith(f"{form.name}.")
        for task, variants in form.tasks.items():
            for held in variants:
                assert len(form.items(instrument.task(task), held.language)) == len(held.items)
