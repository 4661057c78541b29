"""A scene's question, asked of the sentence on screen: nothing of its truth is stored anywhere."""

from transformer.analysis.reading import read
from transformer.checkpoint import Checkpoint
from transformer.recording import Recording
from viz.components.question.question import Truth, question_payload
from viz.lessons.place import Place
from viz.lessons.subject import Subject
from viz.lessons.task import even, log_loss, percent_of, previous
from viz.stories.reading import SAMPLED
from viz.stories.story import Scene, reading_of


def asked_of(
    scene: Scene, checkpoint: Checkpoint, recording: Recording, method: str
) -> Subject | None:
    """The row that is asked about; None where nothing is, or there is no such head or word here.

    method: of decoding. A shorter sentence is asked about its last row.
    """
    question = scene.question
    attention = recording.attentions.get(question.kind) if question else None
    if question is None or attention is None or method in SAMPLED:
        return None
    if question.layer >= attention.n_layers or question.head >= attention.n_heads:
        return None
    reading = reading_of(scene, checkpoint.about)
    rows = read(recording, question.kind, reading).row_groups
    query, *_ = rows[min(question.query, len(rows) - 1)]
    place = Place(question.kind, question.layer, question.head, query)
    return Subject(checkpoint, recording, place, in_pieces=not reading.words)


def payload_of(scene: Scene, subject: Subject, text: str, is_answered: bool) -> bytes:
    """Pack the question for the browser: words, and weights only once it is answered.

    text: the sentence on screen; of another one than the scene's it is asked in general words.
    """
    own = scene.question.words if scene.question and text == scene.screen.text else ""
    question = own or f"Which word will the row ‘{subject.row_word}’ look at most?"
    return question_payload(question, subject.words, truth_of(subject) if is_answered else None)


def truth_of(subject: Subject) -> Truth:
    """The row's weights, and what guesses cost that know nothing of it."""
    weights = tuple(subject.weights.tolist())
    most = subject.strongest
    return Truth(
        weights,
        uniform=log_loss(weights, even(len(weights))),
        previous=log_loss(weights, previous(subject)),
        least=log_loss(weights, [max(each, 1e-9) for each in weights]),
        says=f"‘{subject.row_word}’ looks at ‘{subject.words[most]}’: {percent_of(weights[most])}.",
    )
