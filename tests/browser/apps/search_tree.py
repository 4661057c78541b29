"""A page with one search tree: ?steps=40&beam=8, ?shared=20 of its first steps, ?pieces=hostile."""

import streamlit as st

from tests.browser.apps.random_search import random_search
from tests.browser.payloads import PAYLOADS
from viz.components.search_tree.search_tree import DecodeTree, pack_tree, search_tree
from viz.theme import theme

st.set_page_config(layout="wide")
query = st.query_params
sizes = [int(query.get(name, usual)) for name, usual in (("steps", 12), ("beam", 4), ("shared", 0))]
pieces = PAYLOADS if query.get("pieces") == "hostile" else ()
state = st.session_state
if st.button("One step more"):
    state.more = state.get("more", 0) + 1
if st.button("Another sentence"):  # that begins with the same words
    state.source, state.more = "another", state.get("more", 0) + 1
sizes[0] += state.get("more", 0)
search = random_search(*sizes, pieces)


def chosen(news: list[object]) -> None:
    state.node = news[1]


def branched(news: list[object]) -> None:
    state.branch = news[1]


@st.cache_resource
def payload(*of: object) -> bytes:
    return pack_tree(search, True, state.get("source", ""))


tree = DecodeTree()
data = tree.data(
    payload(*sizes, pieces, state.get("source")),
    theme(st.context.theme.type),
    node=state.get("node"),
)
search_tree(data, "tree", on_node=chosen, on_branch=branched)
st.write(f"chosen {state.get('node')}, branch {state.get('branch')}")
