"""The trained opponents: files, features, and characters as measured."""

import io
import random
import zipfile

import numpy as np
import pytest

from sociometer.instruments.egosocial.games.holdem import net
from sociometer.instruments.egosocial.games.holdem.character import characters
from sociometer.instruments.egosocial.games.holdem.features import WIDTH, features
from sociometer.instruments.egosocial.games.holdem.observation import CODES, observe, table_of
from sociometer.instruments.egosocial.games.holdem.rules import Deal, State, new_deal
from sociometer.instruments.egosocial.games.holdem.simulator import Table

ROW = np.array([0])


@pytest.fixture(scope="module")
def measured():
    return {(one.style, one.seed, one.against): one.tally for one in characters()}


def test_each_style_keeps_its_character_over_ten_thousand_hands_and_three_seeds(measured):
    for against in ("random", "other"):
        aggressive = [measured["aggressive", seed, _rival("aggressive", against)] for seed in net.SEEDS]
        conservative = [measured["conservative", seed, _rival("conservative", against)] for seed in net.SEEDS]
        assert all(one.hands == 10_000 for one in aggressive + conservative)
        assert min(one.raise_rate for one in aggressive) > max(one.raise_rate for one in conservative) + 0.15
        assert min(one.fold_rate for one in conservative) > max(one.fold_rate for one in aggressive) + 0.15
        for group in (aggressive, conservative):
            rates = [one.raise_rate for one in group]
            assert max(rates) - min(rates) < 0.15


def _rival(style, against):
    return "random" if against == "random" else net.STYLES[1 - net.STYLES.index(style)]


def test_every_opponent_beats_the_random_player_beyond_doubt(measured):
    for style in net.STYLES:
        for seed in net.SEEDS:
            tally = measured[style, seed, "random"]
            assert tally.chips_per_hand > 4 * tally.standard_error


def test_weight_files_are_small_and_hold_no_pickles():
    for style in net.STYLES:
        for seed in net.SEEDS:
            path = net.weight_file(style, seed)
            assert path.stat().st_size < 64_000
            assert path.with_suffix(".json").is_file()
            with np.load(path, allow_pickle=False) as stored:
                assert all(stored[name].dtype == np.float16 for name in stored.files)


def test_a_missing_weight_file_says_what_is_shipped_and_how_to_train_more():
    with pytest.raises(net.WeightError, match=r"seeds 0, 1, 2 are bundled.*sociometer train egosocial"):
        net.load("aggressive", 77)
    with pytest.raises(net.WeightError, match="aggressive, conservative"):
        net.load("reckless")


def test_weights_of_another_shape_are_refused(tmp_path):
    layer = net.Layer(np.zeros((3, 5), dtype=np.float32), np.zeros(3, dtype=np.float32))
    net.save(net.Net((layer,)), tmp_path / "aggressive-0.npz")
    with pytest.raises(net.WeightError, match=str(WIDTH)):
        net.load("aggressive", 0, tmp_path)


def array(shape, content=b"", kind="<f2"):
    """An .npy file that claims a shape, whatever it holds."""
    out = io.BytesIO()
    np.lib.format.write_array_header_1_0(out, {"descr": kind, "fortran_order": False, "shape": shape})
    return out.getvalue() + content


BIAS = array((3,), bytes(6))
NO_WEIGHTS = {
    "no archive": None,
    "a bomb": {"weight0.npy": bytes(50_000_000), "bias0.npy": BIAS},
    "a claim of a billion numbers": {"weight0.npy": array((10**6, 10**6)), "bias0.npy": BIAS},
    "objects": {"weight0.npy": array((1,), b"x", "|O"), "bias0.npy": BIAS},
    "other names": {"a.npy": BIAS, "b.npy": BIAS},
    "texts": {"weight0.npy": array((1,), b"x" * 4, "<U1"), "bias0.npy": BIAS},
    "layers that do not join": {"weight0.npy": array((4, WIDTH), bytes(8 * WIDTH)), "bias0.npy": BIAS},
    "one number for all actions": {
        "weight0.npy": array((1, WIDTH), bytes(2 * WIDTH)),
        "bias0.npy": array((1,), bytes(2)),
    },
    "nothing": {},
}


@pytest.mark.parametrize("members", NO_WEIGHTS.values(), ids=NO_WEIGHTS)
def test_what_is_no_weight_file_is_refused_by_its_name(tmp_path, members):
    path = tmp_path / "aggressive-0.npz"
    if members is None:
        path.write_bytes(b"no archive")
    else:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
            for name, content in members.items():
                packed.writestr(name, content)
    with pytest.raises(net.WeightError, match=r"aggressive-0\.npz.*train it again"):
        net.load("aggressive", 0, tmp_path)


def play_some(seed):
    rng = random.Random(seed)
    state = State(new_deal(rng, seed % 2))
    for _ in range(rng.randint(0, 6)):
        if state.over:
            break
        state.apply(rng.choice([word for word in state.legal() if word != "fold"]))
    return state


def test_the_opponent_sees_the_same_in_a_match_as_in_the_simulator():
    for seed in range(200):
        state = play_some(seed)
        if state.over:
            continue
        table = Table.of([state.deal])
        for move in state.moves:
            table.step(ROW, np.array([CODES[move.action]]))
        seen = table_of(observe(state))
        np.testing.assert_array_equal(features(seen, ROW), features(table, ROW))


def test_what_an_opponent_does_cannot_depend_on_cards_it_cannot_see():
    for seed in range(100):
        state = play_some(seed)
        if state.over:
            continue
        deal, seat = state.deal, state.actor
        spare = [card for card in range(52) if card not in (*deal.hole[seat], *deal.board)]
        other = (spare[5], spare[20])
        hidden = (*state.board, *spare[30 : 35 - len(state.board)])
        changed = Deal((deal.hole[0], other) if seat == 0 else (other, deal.hole[1]), hidden, deal.button)
        tables = [Table.of([deal]), Table.of([changed])]
        for table in tables:
            for move in state.moves:
                table.step(ROW, np.array([CODES[move.action]]))
        assert net.load("aggressive")(tables[0], ROW).tolist() == net.load("aggressive")(tables[1], ROW).tolist()


def test_probabilities_add_up_and_respect_the_limit_on_raises():
    state = State(new_deal(random.Random(2), 0))
    for _ in range(4):
        state.apply("raise")
    chances = net.load("aggressive")(table_of(observe(state)), ROW)[0]
    assert chances.sum() == pytest.approx(1)
    assert chances[2] == 0
