"""Makes the hand-made runs of `fake_runs.py` importable whatever the import mode."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
