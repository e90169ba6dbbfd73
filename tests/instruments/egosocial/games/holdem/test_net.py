"""The trained opponents: files, features, and characters as measured."""

import csv
import io
import random
import zipfile
from itertools import product

import numpy as np
import pytest

from sociometer.instruments.egosocial.games import cards
from sociometer.instruments.egosocial.games.holdem import net
from sociometer.instruments.egosocial.games.holdem.net import WIDTH, PokerTable, features, table_of
from sociometer.instruments.egosocial.games.holdem.rules import CODES, HoldemDeal, HoldemState, new_deal, observe
from tools.holdem_characters import characters, equities
from tools.train_holdem import save

ROW = np.array([0])


RIVALS = ("random", "always raise", "always call", "other")


@pytest.fixture(scope="module")
def measured():
    return {(one.style, one.seed, one.against): one for one in characters(hands=1500, seed=5)}


def of_all_seeds(measured, style, against):
    rival = net.STYLES[1 - net.STYLES.index(style)] if against == "other" else against
    return [measured[style, seed, rival] for seed in net.SEEDS]


@pytest.mark.slow
@pytest.mark.parametrize("against", RIVALS)
def test_both_words_are_true_for_all_seeds_against_every_rival(against, measured):
    aggressive, conservative = (of_all_seeds(measured, style, against) for style in net.STYLES)
    for bold, timid in product(aggressive, conservative):
        assert bold.tally.raise_rate > timid.tally.raise_rate + 0.25
        assert bold.tally.aggression > 2 * timid.tally.aggression
        assert timid.raised_with > bold.raised_with + 0.06
        assert timid.folded_with > bold.folded_with + 0.03
        if against != "always call":
            assert timid.tally.fold_to_raise > bold.tally.fold_to_raise + 0.15


@pytest.mark.slow
def test_strength_decides_each_style_raises_its_best_cards_and_folds_its_worst(measured):
    for one in measured.values():
        assert one.raised_with > one.called_with > one.folded_with


@pytest.mark.slow
def test_the_committed_table_is_what_the_shipped_opponents_play(measured):
    with (net.WEIGHTS / "characters.csv").open(encoding="utf-8", newline="") as lines:
        rows = {(row["style"], int(row["seed"]), row["against"]): row for row in csv.DictReader(lines)}
    assert set(rows) == set(measured)
    for key, row in rows.items():
        assert float(row["raise"]) == pytest.approx(measured[key].tally.raise_rate, abs=0.04)
        assert float(row["fold to raise"]) == pytest.approx(measured[key].tally.fold_to_raise, abs=0.06)
        assert float(row["raises with"]) == pytest.approx(measured[key].raised_with, abs=0.04)


@pytest.mark.parametrize("seed", net.SEEDS)
@pytest.mark.parametrize("button", [0, 1])
def test_a_conservative_player_does_not_raise_seven_two_after_three_raises(seed, button):
    """The cards are the worst there are: 7 and 2 of different suits."""
    hole = ((cards.RANKS.index("7") * 4, cards.RANKS.index("2") * 4 + 1), (32, 36))
    table = PokerTable.of([HoldemDeal(hole, (16, 21, 30, 35, 44), button)])
    if button == 0:
        table.step(ROW, np.array([1]))
    for _ in range(3):
        table.step(ROW, np.array([2]))
    assert (table.actor[0], table.raises[0]) == (0, 3)
    fold, _, again = net.load("conservative", seed)(table, ROW)[0]
    assert again < 0.02
    assert fold > 0.8


def test_the_better_cards_are_the_stronger_ones():
    """Two aces beat two random cards in 85 % of deals, 7-2 offsuit in 35 %."""
    rng = np.random.default_rng(0)
    for names, exact in (("SA HA", 0.852), ("S7 H2", 0.346)):
        hole = tuple(cards.RANKS.index(name[1]) * 4 + cards.SUITS.index(name[0]) for name in names.split())
        spare = [card for card in range(52) if card not in hole]
        table = PokerTable.of([HoldemDeal((hole, (spare[0], spare[1])), tuple(spare[2:7]), 0)])
        assert equities(table, ROW, rng, deals=500)[0] == pytest.approx(exact, abs=0.05)


@pytest.mark.slow
def test_every_opponent_beats_the_random_player_beyond_doubt(measured):
    for style in net.STYLES:
        for seed in net.SEEDS:
            tally = measured[style, seed, "random"].tally
            assert tally.chips_per_hand > 4 * tally.standard_error


def test_weight_files_are_small_and_hold_no_pickles():
    for style in net.STYLES:
        for seed in net.SEEDS:
            path = net.weight_file(style, seed)
            assert path.stat().st_size < 64_000
            assert path.with_suffix(".json").is_file()
            with np.load(path, allow_pickle=False) as stored:
                assert all(stored[name].dtype == np.float16 for name in stored.files)


def test_a_missing_weight_file_says_what_is_shipped():
    with pytest.raises(net.WeightError, match="seeds 0, 1, 2 are bundled"):
        net.load("aggressive", 77)
    with pytest.raises(net.WeightError, match="aggressive, conservative"):
        net.load("reckless")


def test_weights_of_another_shape_are_refused(tmp_path):
    layer = net.Layer(np.zeros((3, 5), dtype=np.float32), np.zeros(3, dtype=np.float32))
    save(net.Net((layer,)), tmp_path / "aggressive-0.npz")
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
    state = HoldemState(new_deal(rng, seed % 2))
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
        table = PokerTable.of([state.deal])
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
        changed = HoldemDeal((deal.hole[0], other) if seat == 0 else (other, deal.hole[1]), hidden, deal.button)
        tables = [PokerTable.of([deal]), PokerTable.of([changed])]
        for table in tables:
            for move in state.moves:
                table.step(ROW, np.array([CODES[move.action]]))
        assert net.load("aggressive")(tables[0], ROW).tolist() == net.load("aggressive")(tables[1], ROW).tolist()


def test_probabilities_add_up_and_respect_the_limit_on_raises():
    state = HoldemState(new_deal(random.Random(2), 0))
    for _ in range(4):
        state.apply("raise")
    chances = net.load("aggressive")(table_of(observe(state)), ROW)[0]
    assert chances.sum() == pytest.approx(1)
    assert chances[2] == 0
