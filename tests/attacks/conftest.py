"""The scripted people and pages of `tests/web`, for those who attack a study."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "web"))
