"""A head by itself: its labels with evidence, where it looks in sentences, and its relatives."""

from dataclasses import replace
from functools import partial

from transformer.corpus.atlas import Atlas
from transformer.corpus.shipped import Place
from transformer.training.history import list_snapshots
from viz.app_packages import st
from viz.exhibits.exhibit import Exhibit
from viz.figures.heads import footprint
from viz.figures.heads.labels_table import labels_table
from viz.figures.heads.names import head_name, label_text, sentences
from viz.figures.heads.numbers_of_head import numbers_of_head
from viz.figures.heads.relatives_table import relatives_table
from viz.figures.heads.rows_table import rows_table
from viz.figures.heads.words_of_head import words_of_head
from viz.labels import kind_title
from viz.pages.heads.further import draw_circuits, draw_training
from viz.pages.heads.sentences import group_of, rows_of
from viz.painters.parts_html import WIDTHS, links_group, links_row
from viz.screen import link
from viz.state.head_links import at_head, in_weights, on_explore, over_training
from viz.state.page import Pane
from viz.ui.ahead import Part, show_ahead
from viz.ui.columns import below, columns
from viz.ui.saving import for_a_paper
from viz.ui.words import help_of

MOST_RELATIVES = 5
HEAD = "kind", "layer", "head"
"""The fields of the Screen that name a head."""
ROWS = (
    "Rows drawn at random from each tenth of all rows, by their largest weight: what it "
    "does at its strongest is seldom all that it does. Each sentence opens on Explore."
)


def place_on(pane: Pane, atlas: Atlas) -> Place:
    """The head that the Screen names; the checkpoint's own where the survey has none of it."""
    screen, default = pane.screen, pane.default
    place = screen.kind or default.kind, screen.layer, screen.head
    whole = (
        place[0],
        default.layer if place[1] is None else place[1],
        default.head if place[2] is None else place[2],
    )
    return whole if whole in atlas.heads else next(iter(atlas.heads))


def exhibits_of_head(pane: Pane, atlas: Atlas) -> dict[str, Exhibit]:
    """Everything that is known of the head that is open."""
    place, screen = place_on(pane, atlas), pane.screen
    head, name = atlas.heads[place], head_name(place, atlas)
    deciles = [
        row
        for decile in head.deciles
        for row in rows_of(atlas, place, decile.rows, screen, group_of(decile))
    ]
    strongest = rows_of(atlas, place, head.strongest, screen)
    near = atlas.relatives(place, MOST_RELATIVES)
    links = [link(at_head(screen, each)) for each, _ in near]
    exhibits = {
        "deciles": Exhibit(
            f"Rows of {name} by decile",
            rows_table(f"Rows of {name} by decile", deciles),
            f"Rows of {name}, drawn at random from each tenth by their largest weight.",
        ),
        "footprint": Exhibit(
            f"Footprint of {name}", footprint.chart(head), footprint.describe(head)
        ),
        "labels": Exhibit(
            f"Labels of {name}", labels_table(atlas.labels.get(place, ())), name_of(atlas, place)
        ),
        "numbers": Exhibit(
            f"Numbers of {name}", numbers_of_head(atlas, place), f"{name} in numbers"
        ),
        "strongest": Exhibit(
            f"Strongest rows of {name}",
            rows_table(f"Strongest rows of {name}", strongest),
            f"The rows of {name} with the largest weights, each of another sentence.",
            is_main=False,
        ),
        "relatives": Exhibit(
            f"Relatives of {name}",
            relatives_table(atlas, near, links),
            f"The heads whose footprints are most like that of {name}.",
            is_main=False,
        ),
    }
    over = f", over {sentences(atlas.survey.n_sentences)}."  # none is of the sentence that is read
    return {
        key: replace(each, about="checkpoint", says=each.says.removesuffix(".") + over)
        for key, each in exhibits.items()
    }


def name_of(atlas: Atlas, place: Place) -> str:
    """Say what a head does, by the surest of its labels, with score, interval and baseline."""
    label = atlas.label(place)
    name = head_name(place, atlas)
    return f"{name} has no label" if label is None else f"{name}: {label_text(label)}"


def one_head(pane: Pane, atlas: Atlas) -> None:
    """Draw its name with evidence, its sentences, and what leads on."""
    below(_say_rows, pane)
    show_ahead(pane.screen, HEAD, lambda screen: _part(replace(pane, screen=screen), atlas))
    for_a_paper(pane, exhibits_of_head(pane, atlas), "paper head")
    below(partial(_further, atlas), pane)


def _say_rows(pane: Pane) -> None:
    st.caption(ROWS, help=help_of("head_label", "head_worth", "footprint"))


def _part(pane: Pane, atlas: Atlas) -> Part:
    """All that a survey knows of the head that is open."""
    place, exhibits = place_on(pane, atlas), exhibits_of_head(pane, atlas)
    words = words_of_head(atlas, place, pane.checkpoint.family)
    labels = [exhibits["labels"]] if atlas.labels.get(place) else []
    others = [exhibits[name] for name in ("footprint", "numbers", "relatives")]
    rows = [exhibits["deciles"], exhibits["strongest"]]
    return Part(_links(pane, place, atlas), [[words, *labels, *others], rows])


def _further(atlas: Atlas, pane: Pane) -> None:
    """Draw what takes its time, after the rest: circuits, and training."""
    place, (left, right) = place_on(pane, atlas), columns(WIDTHS, gap="large")
    with left:
        draw_circuits(pane, atlas, place)
    with right:
        draw_training(pane, atlas, place)


def _links(pane: Pane, place: Place, atlas: Atlas) -> str:
    """All kinds, the layers of its kind and the heads of its layer; and where else it is shown."""
    screen, (kind, layer, head) = pane.screen, place
    kinds = list(dict.fromkeys(each[0] for each in atlas.heads))
    layers = list(dict.fromkeys(each[1] for each in atlas.heads if each[0] == kind))

    def group(name: str, heads: dict[str, Place], chosen: str) -> str:
        links = {text: link(at_head(screen, each)) for text, each in heads.items()}
        return links_group(name, links, chosen) if len(links) > 1 else ""

    def number_of(layer: int) -> str:
        return f"L{atlas.layer((kind, layer, 0)):d}"

    of_kinds = {kind_title(each): _near(atlas, (each, layer, head)) for each in kinds}
    of_layers = {number_of(each): _near(atlas, (kind, each, head)) for each in layers}
    of_heads = {f"H{each[2]:d}": each for each in atlas.heads if each[:2] == (kind, layer)}
    others = {
        "Open on Explore": on_explore(screen, place),
        "Its circuits": in_weights(screen, place),
    }
    if len(list_snapshots(pane.checkpoint.path)) > 1:
        others["Over training"] = over_training(screen, place)
    return links_row(
        group("Attention", of_kinds, kind_title(kind)),
        group("Layers", of_layers, number_of(layer)),
        group("Heads", of_heads, f"H{head:d}"),
        links_group("More of this head", {text: link(to) for text, to in others.items()}),
    )


def _near(atlas: Atlas, place: Place) -> Place:
    """The head at the same place of another kind or layer; its first one where that has none."""
    kind, layer, _ = place
    of_kind = [each for each in atlas.heads if each[0] == kind]
    of_layer = [each for each in of_kind if each[1] == layer]
    return place if place in atlas.heads else (of_layer or of_kind)[0]
