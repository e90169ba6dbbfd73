"""Writes the stories by word of mouth that a run of EgoSocialArena without options plays."""

import gzip

import msgspec

from sociometer.instruments.egosocial.stories.scenes import USUAL, USUAL_FILE, told_stories
from sociometer.instruments.egosocial.stories.testimony import TIERS

if __name__ == "__main__":
    seed, stories, language = USUAL
    made = {tier: told_stories(seed, stories, tier, language) for tier in TIERS}
    USUAL_FILE.write_bytes(gzip.compress(msgspec.json.encode(made), mtime=0))
