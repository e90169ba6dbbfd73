"""The examples on the pages about other tools are run as they are written."""

import re
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

import sociometer.adapters

pytestmark = pytest.mark.slow

PAGES = Path(__file__).parents[2] / "docs" / "adapters"
LM_EVAL = Path(sociometer.adapters.__file__).parent / "lm_eval"
NEEDS = {"lm-eval.md": "lm_eval"}
NEED_A_MODEL = {"inspect.md", "verifiers.md"}
"""Their examples ask a server."""


def commands(page):
    text = (PAGES / page).read_text(encoding="utf-8")
    blocks = re.findall(r"```bash\n(.*?)```", text, re.DOTALL)
    return [line.removeprefix("$ ") for block in blocks for line in block.splitlines() if line.startswith("$ ")]


@pytest.mark.parametrize("page", sorted({path.name for path in PAGES.glob("*.md")} - NEED_A_MODEL))
def test_the_commands_of_a_page_run_to_their_end(page, tmp_path, command):
    if find_spec(needed := NEEDS.get(page, "sociometer")) is None:
        pytest.skip(f"{needed} is not installed")
    assert commands(page)
    for table in re.findall(r"```csv\n(.*?)```", (PAGES / page).read_text(encoding="utf-8"), re.DOTALL):
        (tmp_path / "empathy.csv").write_text(table, encoding="utf-8")
    for example in PAGES.glob("*.py"):
        shutil.copy(example, tmp_path)
    for line in (line.replace("LM_EVAL_FOLDER", str(LM_EVAL)) for line in commands(page)):
        command(*line.split(), folder=tmp_path, SOCIOMETER_STORE=str(tmp_path / "store.db"))
