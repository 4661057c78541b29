"""Schemes that tell tokens apart by place, in sentences: every one that a recording shows."""

from collections.abc import Iterator, Sequence

from torch import Tensor

from transformer.positions.relative_bias import RelativeBias, paper_slopes
from transformer.positions.rotary import Rotary
from transformer.recording import PositionalEncoding, Recording
from viz.labels import number

CLOSE = 0.01
"""Slopes that differ by less, as a share, are the same: some models round them to bfloat16."""


def schemes(recording: Recording) -> list[str]:
    """One sentence per scheme; empty if no position scheme was found.

    Sides and kinds of which the same is true share a sentence.
    """
    by_scheme: dict[str, list[str]] = {}
    for name, each in recording.positions.items():
        by_scheme.setdefault(_added(each), []).append(name)
    for name, rotary in recording.rotary.items():
        by_scheme.setdefault(_turning(rotary, recording), []).append(name)
    for name, bias in recording.biases.items():
        by_scheme.setdefault(_biased(bias, recording), []).append(name)
    return [sentence.format(" and ".join(names)) for sentence, names in by_scheme.items()]


def _added(positions: PositionalEncoding) -> str:
    n_positions, width = positions.table.shape
    how = {
        "sinusoidal": "Fixed encodings (sinusoids) are added to",
        "concatenated": "Learned embeddings are set beside",
    }.get(positions.scheme, "Learned embeddings are added to")
    return f"{how} the tokens of the {{}}: {n_positions:,} positions, {width:,} dimensions."


def _turning(rotary: Rotary, recording: Recording) -> str:
    waves = rotary.wavelengths
    return (
        f"Rotary ({{}}): {rotary.n_turning} of {rotary.d_head} dimensions of every query and key "
        f"turn with the position, once in {wave_text(float(waves.min()))} to "
        f"{wave_text(float(waves.max()))} positions, {layers_text(rotary, recording)}."
    )


def _biased(bias: RelativeBias, recording: Recording) -> str:
    where = layers_text(bias, recording)
    if bias.slopes is not None:
        return (
            "ALiBi ({}): every head lowers its scores by a slope times the distance, "
            f"{slopes_text(bias.slopes)}, {where}."
        )
    if bias.is_of_distance:
        return (
            "Relative bias ({}): every head adds to its scores a number that depends on "
            f"key − query only, {where}."
        )
    return (
        "Bias ({}): every head adds to its scores numbers that differ by up to "
        f"{bias.by_distance.spread:.4f} between cells of one distance, {where}."
    )


def slopes_text(slopes: Tensor) -> str:
    """Their range, and how they compare with the paper's.

    >>> slopes_text(paper_slopes(2))
    "0.0039 to 0.0625 per position, the paper's"
    """
    shares = slopes / paper_slopes(slopes.numel())
    values_text = f"{number(slopes.min(), 4)} to {number(slopes.max(), 4)} per position"
    if not bool((shares - shares[0]).abs().le(CLOSE * shares[0].abs()).all()):
        return f"{values_text}, not the paper's"
    share = float(shares.mean())
    return f"{values_text}, " + (
        f"{share:.4g} times the paper's" if abs(share - 1) > CLOSE else "the paper's"
    )


def layers_text(of: Rotary | RelativeBias, recording: Recording) -> str:
    """Name the layers of its kind: "in all 6 layers", "in L0, L2–L4"."""
    n_layers = recording.attentions[of.kind].n_layers
    if len(of.layers) == n_layers:
        return f"in all {n_layers} layers" if n_layers > 1 else "in its one layer"
    return f"in {', '.join(_runs(of.layers))}"


def _runs(layers: Sequence[int]) -> Iterator[str]:
    """Layers that follow each other as a range."""
    starts = [i for i, layer in enumerate(layers) if i == 0 or layers[i - 1] != layer - 1]
    for first, end in zip(starts, [*starts[1:], len(layers)], strict=True):
        run = layers[first:end]
        yield f"L{run[0]}" if len(run) == 1 else f"L{run[0]}–L{run[-1]}"


def wave_text(wavelength: float) -> str:
    """A number of positions, with as many digits as say something.

    >>> wave_text(6.2832), wave_text(62831.9)
    ('6.3', '62,832')
    """
    return f"{wavelength:,.1f}" if wavelength < 100 else f"{wavelength:,.0f}"
