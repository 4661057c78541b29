"""The loss of one word under label smoothing."""

from torch import Tensor

from transformer.training.smoothing import cross_entropy, smoothed_target
from viz.lessons.subject import Subject, named
from viz.lessons.sureness import EPSILON, second_least_sure
from viz.lessons.task import Reply, Task


def _losses(subject: Subject) -> Tensor:
    """-ln p of every token at that position [V]."""
    return (
        -subject.recording.logits[second_least_sure(subject.recording)]
        .cpu()
        .double()
        .log_softmax(-1)
    )


def ask(subject: Subject) -> str:
    word = named(subject.recording.target)[second_least_sure(subject.recording)]
    return (
        f"What is the loss of ‘{word}’ with ε = {EPSILON}? Add {1 - EPSILON} times the first "
        f"number and {EPSILON} times the second."
    )


def material(subject: Subject) -> tuple[tuple[str, str], ...]:
    losses, word = _losses(subject), subject.recording.target[second_least_sure(subject.recording)]
    return (
        ("−ln p of this word", f"{float(losses[word.id]):.3f}"),
        (f"−ln p, mean over all {len(losses):,} tokens", f"{float(losses.mean()):.3f}"),
    )


def truth(subject: Subject) -> float:
    losses, word = _losses(subject), subject.recording.target[second_least_sure(subject.recording)]
    target = smoothed_target(word.id, len(losses), EPSILON)
    return float(cross_entropy(target, -losses))


def hint(subject: Subject, answer: Reply) -> str:
    part = EPSILON * float(_losses(subject).mean())
    return f"All tokens together add {part:.3f}, the word adds {1 - EPSILON} times its own number."


def explain(subject: Subject) -> str:
    plain = float(
        _losses(subject)[subject.recording.target[second_least_sure(subject.recording)].id]
    )
    text = f"{truth(subject):.2f} nats instead of {plain:.2f}: "
    if truth(subject) < plain:
        return f"{text}where a model is as unsure as this one, it costs less."
    return f"{text}to be too sure costs something now."


def opens(subject: Subject) -> dict[str, object]:
    return {"position": second_least_sure(subject.recording)}


TASK = Task(
    "smoothed_loss",
    "number",
    ask,
    truth,
    hint,
    explain,
    material,
    decimals=2,
    unit="nats",
    needs=("writes",),
    of_row=False,
    opens=opens,
)
