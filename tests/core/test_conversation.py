from sociometer.core.conversation import Sampling


def test_what_the_user_sets_takes_the_place_of_the_instruments():
    ours = Sampling(temperature=0, top_p=1, max_tokens=200)
    assert ours.overridden_by(Sampling(temperature=0.7)) == Sampling(temperature=0.7, top_p=1, max_tokens=200)
    assert ours.overridden_by(Sampling()) == ours


def test_sampling_can_be_left_to_the_server():
    ours = Sampling(temperature=0, top_p=1, max_tokens=200, stop=("x",))
    assert ours.overridden_by(Sampling(server_default=True)) == Sampling(max_tokens=200, stop=("x",))
