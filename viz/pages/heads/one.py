"""A head by itself: its labels with evidence, where it looks in sentences, and its relatives."""

from dataclasses import replace

from transformer.corpus.atlas import Atlas, Place
from transformer.models.family import Family
from transformer.training.history import list_snapshots
from viz.app_packages import st
from viz.exhibits.exhibit import Exhibit
from viz.figures.heads import footprint
from viz.figures.heads.labels_table import labels_table
from viz.figures.heads.names import ends_text, head_name, label_text, sentences, text_of
from viz.figures.heads.numbers_of_head import numbers_of_head
from viz.figures.heads.relatives_table import relatives_table
from viz.figures.heads.rows_table import rows_table
from viz.labels import literal
from viz.pages.heads.further import draw_circuits, draw_training
from viz.pages.heads.sentences import group_of, rows_of
from viz.screen import link
from viz.state.head_links import at_head, in_weights, on_explore, over_training
from viz.state.page import Pane
from viz.ui.columns import below, columns
from viz.ui.controls import draw_link
from viz.ui.saving import for_a_paper
from viz.ui.showing import show
from viz.ui.words import help_of

MOST_RELATIVES = 5
LOSSES = {
    "nats": "what the log-probability of {} loses without this head",
    "degrees": "the angle by which the text's vector turns without this head",
    "units": "what the number loses without this head",
}
"""Unit of what a head is worth -> what its number says of what is judged."""
NO_LABEL = (
    "None of the roles that are looked for is far enough from chance. What it does may "
    "be something else, or several things: the sentences say more."
)


def loss_of(family: Family, unit: str) -> str:
    """Say what is lost without a head: models that continue a text are judged by that text."""
    judged = "a token of the given text" if family.continues else "a token of the output"
    if not family.decodes:
        judged = "the output"
    return LOSSES.get(unit, LOSSES["units"]).format(judged)


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
    head, name = atlas.heads[place], head_name(place)
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


def one_head(pane: Pane, atlas: Atlas) -> None:
    """Draw its name with evidence, its sentences, and what leads on."""
    place, exhibits = place_on(pane, atlas), exhibits_of_head(pane, atlas)
    left, right = columns([6, 8], gap="large")
    with left:
        _say_name(atlas, place)
        if atlas.labels.get(place):
            show(exhibits["labels"], "labels")
        _say_worth(atlas, place, pane.checkpoint.family)
    with right:
        st.caption(
            "Rows drawn at random from each tenth of all rows, by their largest weight: what it "
            "does at its strongest is seldom all that it does. Each sentence opens on Explore."
        )
        show(exhibits["deciles"], "deciles")
    with left:  # a browser takes longest for a chart: the sentences come before it
        show(exhibits["footprint"], "footprint")
        show(exhibits["numbers"], "numbers")
    for_a_paper(pane, exhibits, "paper head")
    below(lambda _: _further(pane, atlas, place, exhibits), pane)


def _further(pane: Pane, atlas: Atlas, place: Place, exhibits: dict[str, Exhibit]) -> None:
    """Draw what takes its time, after the rest: circuits, and training."""
    left, right = columns([6, 8], gap="large")
    with left:
        st.markdown(f"**{literal(exhibits['relatives'].title)}**")
        show(exhibits["relatives"], "relatives")
    with right:
        st.markdown(f"**{literal(exhibits['strongest'].title)}**")
        show(exhibits["strongest"], "strongest")
    with left:
        draw_circuits(pane, atlas, place)
    with right:
        draw_training(pane, place)


def name_of(atlas: Atlas, place: Place) -> str:
    """Say what a head does, by the surest of its labels, with score, interval and baseline."""
    label = atlas.label(place)
    name = head_name(place)
    return f"{name} has no label" if label is None else f"{name}: {label_text(label)}"


def _say_name(atlas: Atlas, place: Place) -> None:
    label, name = atlas.label(place), head_name(place)
    over = f"over {sentences(atlas.survey.n_sentences)}"
    if label is None:
        st.markdown(f"**{literal(name)}** has no label {over}.", help=NO_LABEL)
    else:
        others = len(atlas.labels[place]) - 1
        more = f", and {others:d} more" if others else ""
        st.markdown(
            f"**{literal(name)}**: {literal(label.title)}{more}, {over}", help=help_of("head_label")
        )


def _say_worth(atlas: Atlas, place: Place, family: Family) -> None:
    worth = atlas.number(place, "worth")
    if worth is None:
        return
    unit = atlas.shipped.unit
    text = text_of("worth", worth.mean, unit)
    if worth.low is not None and worth.high is not None:
        text += f" ({ends_text('worth', worth.low, worth.high, unit)})"
    help = help_of("head_worth", "footprint")
    harms = "; below 0, it harms" if worth.mean < 0 else ""
    what = loss_of(family, unit)
    over = sentences(worth.n_sentences)
    st.caption(literal(f"Its worth over {over} is {text}: {what}{harms}."), help=help)


def links_of(pane: Pane, place: Place) -> None:
    """Draw links to where else this head is shown."""
    screen = pane.screen
    screens = {
        "Open on Explore": on_explore(screen, place),
        "Its circuits": in_weights(screen, place),
    }
    if len(list_snapshots(pane.checkpoint.path)) > 1:
        screens["Over training"] = over_training(screen, place)
    for text, to in screens.items():
        draw_link(text, to)
