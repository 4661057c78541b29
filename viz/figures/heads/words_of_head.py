"""A head in a few lines: what it does, by the surest of its labels, and what it is worth."""

from transformer.analysis.bootstrap import caution
from transformer.corpus.atlas import Atlas
from transformer.corpus.shipped import Place
from transformer.models.family import Family
from viz.exhibits.words import Line, Span, Words
from viz.figures.heads.names import ends_text, head_name, sentences, text_of

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


def words_of_head(atlas: Atlas, place: Place, family: Family) -> Words:
    """Its name with its surest label, and below it what is lost without it."""
    label, name = atlas.label(place), head_name(place, atlas)
    over = f"over {sentences(atlas.survey.n_sentences)}"
    if label is None:
        line, foot = f"{name} has no label {over}.", [NO_LABEL]
    else:
        others = len(atlas.labels[place]) - 1
        more = f", and {others:d} more" if others else ""
        line, foot = f"{name}: {label.title}{more}, {over}", []
    foot += _worth(atlas, place, family)
    return Words([Line([Span(line)])], [Span(each) for each in foot])


def _worth(atlas: Atlas, place: Place, family: Family) -> list[str]:
    worth = atlas.number(place, "worth")
    if worth is None:
        return []
    unit = atlas.shipped.unit
    text = text_of("worth", worth.mean, unit)
    if worth.low is not None and worth.high is not None:
        text += f" ({ends_text('worth', worth.low, worth.high, unit)})"
    harms = "; below 0, it harms" if worth.mean < 0 else ""
    over = sentences(worth.n_sentences)
    worth_text = f"Its worth over {over} is {text}: {loss_of(family, unit)}{harms}."
    return [*filter(None, (worth_text, caution(worth.n_sentences)))]


def loss_of(family: Family, unit: str) -> str:
    """Say what is lost without a head: models that continue a text are judged by that text."""
    judged = "a token of the given text" if family.continues else "a token of the output"
    if not family.decodes:
        judged = "the output"
    return LOSSES.get(unit, LOSSES["units"]).format(judged)
