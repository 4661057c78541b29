"""Surveys: that beside a checkpoint and the JSON of the command, with values that others have."""

from pathlib import Path
from random import Random

from tests.fuzz.checkpoints import emptied
from tests.fuzz.damage import damaged_bytes, no_file, strange_json
from tests.fuzz.kind import Attempt, Kind
from transformer.corpus.carriers import FILE as CARRIERS
from transformer.corpus.carriers import shipped_carriers
from transformer.corpus.labels import Atlas, labels
from transformer.corpus.shipped import FILE, FOLDER, shipped_survey
from transformer.corpus.summary import read_survey
from transformer.corpus.surveyed import Survey
from transformer.corpus.usual_certainty import FILE as CERTAINTY
from transformer.corpus.usual_certainty import read_certainty

SHIPPED = Path(__file__).parents[2] / "checkpoints" / "copy"
TRANSLATOR = SHIPPED.parent / "en-de-small"


def start(folder: Path) -> Attempt:
    content = (SHIPPED / FOLDER / FILE).read_text()
    shipped = shipped_survey(SHIPPED)
    assert shipped is not None
    first, *_ = shipped.survey.heads
    command = Survey(shipped.survey.n_sentences, (first,)).to_json()
    certainty = (TRANSLATOR / FOLDER / CERTAINTY).read_text()
    carriers = (TRANSLATOR.parent / "en-de" / FOLDER / CARRIERS).read_text()

    def attempt(random: Random) -> None:
        if random.random() < 0.5:
            labels(read_survey(strange_json(random, command)))
            return
        if random.random() < 0.1:
            usual = emptied(folder / "certainty") / CERTAINTY
            usual.write_text(strange_json(random, certainty))
            read_certainty(usual.parent)
            return
        if random.random() < 0.1:
            groups = emptied(folder / "carriers" / FOLDER) / CARRIERS
            groups.write_text(strange_json(random, carriers))
            shipped_carriers(groups.parent.parent)
            return
        file = emptied(folder / "tried") / FILE
        file.write_text(strange_json(random, content))
        if random.random() < 0.3:
            file.write_bytes(damaged_bytes(random, content.encode()))
        if random.random() < 0.1:
            no_file(random, file)
        if read := shipped_survey(SHIPPED, file.parent):
            _drawn(Atlas(read))

    return attempt


def _drawn(atlas: Atlas) -> None:
    """All that the page Heads makes of it."""
    for kind, likeness in atlas.likeness.items():
        assert likeness.places.shape == (len(atlas.of_kind(kind)), 2)
        atlas.numbers(kind)
    for place in atlas.heads:
        atlas.label(place)
        atlas.relatives(place, 3)
        atlas.number(place, "worth")


KIND = Kind("surveys", start, n=2000, n_quick=30)
