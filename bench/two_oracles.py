"""Compares two oracles on generated stories: ours, from the generator's events, and a second one, from the words alone.

Run: python bench/two_oracles.py [--seed 41] [--stories 60]
(720 items: some seconds)
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from sociometer.instruments.egosocial.stories.scenes import generated_scenes
from tests.instruments.egosocial.stories.second_oracle import second_answer


def main() -> int:
    """Print the agreement for each language, and every item on which the two differ."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seed", type=int, default=41)
    options.add_argument("--stories", type=int, default=60)
    chosen = options.parse_args()
    compared = 0
    agreed = 0
    print("| language | items | agree |\n| --- | --- | --- |")
    for language in ("en", "zh"):
        scenes = list(generated_scenes(chosen.seed, chosen.stories, language))
        different = []
        for scene in scenes:
            third = scene.tellings[0]
            right = third.options[third.answer]
            second = second_answer(third.story, third.question, language)
            if second != right:
                different.append(f"{scene.id}: {right}, second oracle {second}")
        print(f"| {language} | {len(scenes)} | {len(scenes) - len(different)} |", flush=True)
        for line in different:
            print(line)
        compared += len(scenes)
        agreed += len(scenes) - len(different)
    print(f"\n{agreed} of {compared} agree")
    return int(agreed < compared)


if __name__ == "__main__":
    raise SystemExit(main())
