"""The loss of one word under label smoothing."""

from torch import Tensor

from transformer.training.smoothing import cross_entropy, smoothed_target
from viz.lessons.seen import Seen, named
from viz.lessons.sureness import EPSILON, second_least_sure
from viz.lessons.task import Reply, Task


def _losses(seen: Seen) -> Tensor:
    """-ln p of every token at that position [V]."""
    return -seen.recording.logits[second_least_sure(seen.recording)].cpu().double().log_softmax(-1)


def ask(seen: Seen) -> str:
    word = named(seen.recording.target)[second_least_sure(seen.recording)]
    return (
        f"What is the loss of ‘{word}’ with ε = {EPSILON}? Add {1 - EPSILON} times the first "
        f"number and {EPSILON} times the second."
    )


def material(seen: Seen) -> tuple[tuple[str, str], ...]:
    losses, word = _losses(seen), seen.recording.target[second_least_sure(seen.recording)]
    return (
        ("−ln p of this word", f"{float(losses[word.id]):.3f}"),
        (f"−ln p, mean over all {len(losses):,} tokens", f"{float(losses.mean()):.3f}"),
    )


def truth(seen: Seen) -> float:
    losses, word = _losses(seen), seen.recording.target[second_least_sure(seen.recording)]
    target = smoothed_target(word.id, len(losses), EPSILON)
    return float(cross_entropy(target, -losses))


def hint(seen: Seen, answer: Reply) -> str:
    part = EPSILON * float(_losses(seen).mean())
    return f"All tokens together add {part:.3f}, the word adds {1 - EPSILON} times its own number."


def explain(seen: Seen) -> str:
    plain = float(_losses(seen)[seen.recording.target[second_least_sure(seen.recording)].id])
    text = f"{truth(seen):.2f} nats instead of {plain:.2f}: "
    if truth(seen) < plain:
        return f"{text}where a model is as unsure as this one, it costs less."
    return f"{text}to be too sure costs something now."


def opens(seen: Seen) -> dict[str, object]:
    return {"position": second_least_sure(seen.recording)}


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
