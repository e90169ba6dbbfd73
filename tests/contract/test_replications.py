"""What every instrument declares for `replicate` and `--wording paper` fits its card."""

import pytest

from sociometer.core.settings import Settings
from sociometer.instruments import cards, load

REPLICATED = [name for name in cards() if load(name).replications is not None]
WORDED = [name for name in cards() if any(task.authors_wording for task in cards()[name].task)]


@pytest.mark.parametrize("name", REPLICATED)
def test_every_published_run_belongs_to_a_row_and_to_measures_of_the_card(name):
    card, plan = cards()[name], load(name).replications()
    rows = [model.row for model in plan.models]
    assert len(set(rows)) == len(rows)
    assert {run.row for run in plan.runs} <= set(rows)
    for run in plan.runs:
        assert card.task_card(run.task).authors_wording
        Settings.chosen(card.setting, {"wording": "paper", **run.settings})
        assert {figure.measure for figure in run.figures} <= {measure.name for measure in card.measures_of(run.task)}
        assert run.figures and all(figure.step > 0 for figure in run.figures)
        assert set(run.roles) <= {role.name for role in card.roles_of(run.task)}


@pytest.mark.parametrize("name", REPLICATED)
def test_a_model_that_is_gone_is_not_called_by_default(name):
    plan = load(name).replications()
    played = plan.chosen(())
    assert played and all(played.values())
    assert not {model.row for model in plan.models if model.access == "gone"} & set(played)
    assert all(model.note for model in plan.models if not model.model), "a row without a model says why"


@pytest.mark.parametrize("name", WORDED)
def test_the_wording_is_a_setting_that_keeps_runs_apart_and_its_files_are_fetched(name):
    card, instrument = cards()[name], load(name)
    (setting,) = [one for one in card.setting if one.name == "wording"]
    assert "paper" in setting.choices and setting.apart and not setting.makes_another_test("paper")
    files = {file.name for file in card.files() if file.prompts}
    settings = Settings.chosen(card.setting, {"wording": "paper"})
    tasks = [task.name for task in card.task if task.authors_wording]
    wanted = list(instrument.authors_prompts(settings, tasks)) if instrument.authors_prompts else []
    assert {prompt.file for prompt in wanted if prompt.file} <= files
    assert all(prompt.name.startswith("paper/") and (prompt.file or prompt.printed) for prompt in wanted)
