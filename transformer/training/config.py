"""The numbers of a recipe, by which a model is trained."""

from dataclasses import dataclass


@dataclass(frozen=True)
class TrainingConfig:
    """Defaults follow AIAYN, section 5, except where a field says otherwise."""

    steps: int
    tokens_per_batch: int
    """Source and target positions together."""
    learning_rate: float
    """The highest that the schedule reaches."""
    warmup_steps: int
    decay_fraction: float = 0.5
    """The last part of the steps, in which the rate falls linearly to zero."""
    label_smoothing: float = 0.1
    loss_pieces: int = 0
    """The pieces of the vocabulary that judge a step, beside its own; 0: all do. Of an
    encoder-decoder whose embedding also makes the logits."""
    gradient_clip: float = 1.0
    weight_decay: float = 0.01
    average_decay: float = 0.999
    """The decay of the exponential moving average of the weights, which is what is shipped."""
    validate_every: int = 1000
    snapshots: int = 0
    """The number of copies of the averaged weights to keep, log-spaced from step 0 to the last."""
    seed: int = 1

    def seed_of(self, epoch: int) -> int:
        """Return the seed of an epoch's order; no two epochs of any two seeds share it."""
        return self.seed * 1_000_003 + epoch
