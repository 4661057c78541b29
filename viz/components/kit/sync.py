"""A callback that fails does not end the run: the page that is drawn after it says so."""

import secrets
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from viz.app_packages import st
from viz.choice import FAILED, HEARD, OPENED, TOKEN, VERSIONS
from viz.components.kit.browser import Component, module_of, pack, unpack


def guarded(callback: Callable[[], Any]) -> Callable[[], None]:
    """The same callback, for Streamlit; the session keeps what it raises."""

    def call() -> None:
        try:
            callback()
        except Exception as error:
            st.session_state[FAILED] = error

    return call


def take_failure() -> Exception | None:
    """Take the error that a callback of this session raised since the last call."""
    error: Exception | None = st.session_state.pop(FAILED, None)
    return error


# News from components, each change once: a number settles who is right, browser or server.
#
# Each change in the browser carries the next number of its window (kit/sync.js). The session
# keeps the largest number that each component has told, and the component's data names it: until
# then, what the browser shows is newer than what the server says.

News = dict[str, Any]
"""The latest changes of a component: name -> value."""


@cache
def mountable(component: Component) -> Callable[..., None]:
    """A component as a function: called with data and a key, it shows it.

    on_x=...: called with what the component tells of x, before the script runs: the place to set
    the state of other widgets. It moves by itself in the browser and tells when the user rests;
    the caller keeps what it is told and hands it in again, or it moves back. caption: what stands
    below it where it is copied as a figure.
    """

    def mount(data: bytes, key: str, caption: str = "", **on: Callable[[Any], None]) -> None:
        def tell(news: News) -> None:
            for name in news:
                if f"on_{name}" in on:
                    on[f"on_{name}"](news[name])

        show(component, data, key, tell, {"caption": caption, "opened": opened()})

    return mount


@cache
def _registered(component: Component) -> Callable[..., Any]:
    """Tell Streamlit of a component, once."""
    return st.components.v2.component(
        component.name, html=component.html, css=component.css or None, js=module_of(component)
    )


def show(
    component: Component,
    data: bytes,
    key: str,
    on_news: Callable[[News], None] = lambda _: None,
    more: Mapping[str, str | int] = MappingProxyType({}),
) -> None:
    """Show a component's data; on_news is called with what it tells before the script runs.

    key: also by which a live preview finds it. more: what is told beside the data.
    """
    header, (payload,) = unpack(data)
    head = {"key": key, "heard": heard(key), **more, **_version(key, data)}
    whole = pack({**header, **head}, payload)
    _registered(component)(
        key=key, data=whole, on_news_change=guarded(lambda: on_news(news_of(key)))
    )


def news_of(key: str) -> News:
    """Return the latest changes of the component of this key; for its callback.

    A message repeats what was told while the server was busy: what is known already is left out,
    and what was changed on an address that was left since by a link, Back or Forward.
    Nothing, where a component tells of something when its page is already left.
    """
    before, state = heard(key), st.session_state.get(key)
    news = [each for each in (state and state.news) or [] if each["n"] > before]
    last = max((int(each["n"]) for each in news), default=before)
    st.session_state[HEARD] = st.session_state.get(HEARD, {}) | {key: last}
    here = opened()
    return {each["name"]: each["value"] for each in news if each.get("opened", here) == here}


def _version(key: str, data: bytes) -> dict[str, str | int]:
    """Number these among a session's data for this component.

    Streamlit may hand a component that is just being loaded its first data after its second, so
    the browser drops what is older. The same data keep their version: they are not sent again.
    """
    session = st.session_state.setdefault(TOKEN, secrets.token_hex(4))
    versions = st.session_state.setdefault(VERSIONS, {})
    before, version = versions.get(key, (None, 0))
    if before != hash(data):
        versions[key] = hash(data), version + 1
    return {"session": session, "version": versions[key][1]}


def opened() -> int:
    """The number of addresses that the session was led to: the first, and those of links."""
    return int(st.session_state.get(OPENED, 0))


def heard(key: str) -> int:
    """The largest number among the changes that this component has told."""
    return int(st.session_state.get(HEARD, {}).get(key, 0))
