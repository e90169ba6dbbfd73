"""What a measure prints."""

from sociometer.core.measure import Interval, Measure


def test_a_measure_is_printed_with_its_interval():
    measure = Measure("accuracy", 0.26666, interval=Interval(0.17, 0.39), items=60)
    assert str(measure) == "accuracy 0.267 [0.170, 0.390], 60 items"
    assert str(Measure("accuracy", 0.5, interval=Interval(None, None), items=3)) == "accuracy 0.500, 3 items"
    assert str(Measure("accuracy", None)) == "accuracy: no value"
