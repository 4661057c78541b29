"""The link that an audience is given: one that a phone reaches, or a sentence that says why not."""

import pytest
import segno
import streamlit as st
from streamlit import net_util

from viz.talks import room_links as audience_link
from viz.talks.room_links import AT_HOME, NO_NETWORK, NOT_LISTED, invitation, qr_code

CODE = "AbCdEfGhIjKl"


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """The talk was opened on the machine itself, whose server all of its network reach."""
    for name in ("HOSTS", "PUBLIC"):
        monkeypatch.delenv(f"HEADSCOPE_{name}", raising=False)
    monkeypatch.setattr(audience_link, "is_reached_by_others", lambda: True)
    monkeypatch.setattr(net_util, "get_internal_ip", lambda: "192.168.1.5")
    at(monkeypatch, "http://localhost:8501")
    return monkeypatch


def at(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    context = type("Context", (), {"url": url})
    monkeypatch.setattr(st, "context", context)


@pytest.mark.usefixtures("opened")
def test_it_has_the_number_of_this_machine_in_its_network(opened: pytest.MonkeyPatch) -> None:
    opened.setenv("HEADSCOPE_PUBLIC", "yes")
    found = invitation(CODE)
    assert found.link == f"http://192.168.1.5:8501/talk/{CODE}" and not found.why
    assert found.qr == qr_code(found.link) and found.qr.startswith("data:image/svg+xml")
    opened.setattr(net_util, "get_internal_ip", lambda: "2001:db8::1")
    assert invitation(CODE).link == f"http://[2001:db8::1]:8501/talk/{CODE}"


def test_a_name_by_which_the_talk_was_opened_is_one_for_phones(
    opened: pytest.MonkeyPatch,
) -> None:
    opened.setenv("HEADSCOPE_PUBLIC", "yes")
    at(opened, "https://talks.example.com/app")
    assert invitation(CODE).link == f"https://talks.example.com/talk/{CODE}"


def test_where_no_phone_can_come_it_says_why(opened: pytest.MonkeyPatch) -> None:
    opened.setenv("HEADSCOPE_PUBLIC", "yes")
    opened.setenv("HEADSCOPE_HOSTS", "talks.example.com")
    assert invitation(CODE).why == NOT_LISTED
    for number in (None, "127.0.0.1"):
        opened.setattr(net_util, "get_internal_ip", lambda number=number: number)
        assert invitation(CODE).why == NO_NETWORK
    opened.setattr(audience_link, "is_reached_by_others", lambda: False)
    found = invitation(CODE)
    assert found.why == AT_HOME and "make run ADDRESS=0.0.0.0" in found.why
    assert (found.link, found.qr) == ("", "")


def test_a_code_is_wide_enough_to_be_read_across_a_room() -> None:
    link = f"http://192.168.100.100:8501/talk/{CODE}"
    assert segno.make(link, error="m", micro=False).symbol_size()[0] <= 33 + 8
