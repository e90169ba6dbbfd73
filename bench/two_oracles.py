"""Compares two oracles on generated stories: ours, from the generator's events, and a second one, from the words alone.

Run: python bench/two_oracles.py [--seed 41] [--seen 60] [--told 72] [--deep 108]
(2,016 items: some minutes)
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from sociometer.instruments.egosocial.stories.scenes import generated_scenes
from tests.instruments.egosocial.stories.second_oracle import second_answer


def main() -> int:
    """Print the agreement for each tier and language, and every item on which the two differ."""
    options = argparse.ArgumentParser(description=__doc__)
    for name, default in (("seed", 41), ("seen", 60), ("told", 72), ("deep", 108)):
        options.add_argument(f"--{name}", type=int, default=default)
    chosen = options.parse_args()
    compared, agreed = 0, 0
    print("| tier | language | items | agree |\n| --- | --- | --- | --- |")
    for tier in ("seen", "told", "deep"):
        for language in ("en", "zh"):
            count = getattr(chosen, tier)
            scenes = list(generated_scenes(chosen.seed, count, tiers=[tier], language=language))
            different = []
            for scene in scenes:
                told = scene.tellings[0]
                second = second_answer(told.story, told.question, language)
                if second != told.options[told.answer]:
                    different.append(f"{scene.id}: {told.options[told.answer]}, second oracle {second}")
            print(f"| {tier} | {language} | {len(scenes)} | {len(scenes) - len(different)} |", flush=True)
            print("\n".join(different), end="\n" if different else "")
            compared, agreed = compared + len(scenes), agreed + len(scenes) - len(different)
    print(f"\n{agreed} of {compared} agree")
    return int(agreed < compared)


if __name__ == "__main__":
    raise SystemExit(main())
