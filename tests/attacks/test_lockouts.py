"""Wrong codes from many networks lock out neither honest people nor the owner."""

import pytest
from open_study import OpenStudy
from serving import Client

from sociometer.web.serving import Place

NETWORKS = [f"198.51.100.{number}" for number in range(1, 13)]
PUBLIC = "https://study.example.org"


class FromNetwork(Client):
    """A browser behind a proxy that names its address."""

    def __init__(self, url, network):
        super().__init__(url)
        self.network = network

    def send(self, method, path, body, headers):
        proxied = {"Host": "study.example.org", "X-Forwarded-For": self.network}
        if "Origin" in headers:
            proxied["Origin"] = PUBLIC
        return super().send(method, path, body, {**headers, **proxied})


@pytest.fixture
def proxied(tmp_path):
    with OpenStudy(tmp_path / "s.db", "sesi", "--limit", "1", place=Place(public_url=PUBLIC)) as study:
        yield study


def flood(study, path, fields):
    statuses = []
    for number in range(240):
        attacker = FromNetwork(study.served.url, NETWORKS[number % len(NETWORKS)])
        statuses.append(attacker.post(path, {name: f"{value}{number}" for name, value in fields.items()}).status)
    assert 429 in statuses, "each network is slowed down"
    return statuses


def test_wrong_codes_from_twelve_networks_lock_out_nobody_else(proxied):
    _, code = proxied.book.join(proxied.study, {}, "t" * 43)
    flood(proxied, f"{proxied.link}/code", {"code": "wrong"})
    honest = FromNetwork(proxied.served.url, "203.0.113.7")
    assert honest.post(f"{proxied.link}/code", {"code": "mistyped"}).status == 403
    assert honest.post(f"{proxied.link}/code", {"code": code}).status == 303


def test_wrong_links_lock_out_no_owner_not_even_from_the_same_network(proxied):
    flood(proxied, "/enter", {"token": "wrong"})
    owner = FromNetwork(proxied.served.url, NETWORKS[0])
    assert owner.post("/enter", {"token": proxied.tokens.make()}).status == 303


def test_one_wrong_code_is_slowed_down_from_all_networks_together(proxied):
    path, fields = f"{proxied.link}/code", {"code": "23456789abcd"}
    networks = [f"192.0.2.{number}" for number in range(1, 21)]
    statuses = [FromNetwork(proxied.served.url, network).post(path, fields).status for network in networks]
    assert statuses == [403] * 10 + [429] * 10
