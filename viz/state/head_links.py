"""Addresses within the app at which a head, a row of it, and its weights are shown."""

from dataclasses import replace

from transformer.corpus.shipped import Place
from viz.screen import FIRST_PAGE, Screen, put


def at_head(screen: Screen, place: Place) -> Screen:
    """The page of a head."""
    kind, layer, head = place
    return put(screen, page="heads", heads_of="one", kind=kind, layer=layer, head=head)


def at_heads(screen: Screen) -> Screen:
    """The page of all heads."""
    return put(screen, page="heads", heads_of="all")


def at_question(screen: Screen, question: str) -> Screen:
    """The heads that answer a question, of the sentence that is on the Screen."""
    return put(screen, page="heads", heads_of="ask", heads_ask=question)


def on_explore(screen: Screen, place: Place) -> Screen:
    """A head on Explore, in the sentence that is on the Screen."""
    kind, layer, head = place
    return put(screen, page=FIRST_PAGE, kind=kind, layer=layer, head=head)


def in_sentence(
    screen: Screen, place: Place, text: str, row: tuple[int, int], writes: bool
) -> Screen:
    """A head on Explore in another sentence, with query and key pinned.

    writes: the model writes the words of the rows, as the survey had it do: greedily.
    """
    kind, layer, head = place
    query, key = row
    return replace(
        Screen(),
        checkpoint=screen.checkpoint,
        text=text,
        decoding="greedy" if writes else None,
        tokens="pieces",
        kind=kind,
        layer=layer,
        head=head,
        pins=(f"q{query}", f"k{key}"),
        own=screen.own,  # so that a page that is left has no choice to tell
    )


def in_weights(screen: Screen, place: Place) -> Screen:
    """The circuits of a head on Inspect."""
    kind, layer, head = place
    own = {"kind_circuit": kind, "layer_circuit": layer, "head_circuit": head}
    return put(screen, page="inspect", inspect="circuits", **own)


def over_training(screen: Screen, place: Place) -> Screen:
    """A head at the snapshots of its training."""
    kind, layer, head = place
    return put(screen, page="training", topic=None, kind=kind, layer=layer, head=head)
