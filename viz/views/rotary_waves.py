"""Rotary positions: in how many positions each pair of dimensions turns once."""

from transformer.recording import Recording
from viz.exhibits.chart import Axis, Chart, Curve
from viz.position_words import wave_text
from viz.theme import SERIES
from viz.views.view import View

HEIGHT = 330


def chart(recording: Recording) -> Chart:
    """One dot per pair, one colour for layers with the same rotation."""
    curves = [
        Curve(
            name,
            range(rotary.wavelengths.numel()),
            rotary.wavelengths.numpy(),
            i % len(SERIES),
            "{y:,.1f} positions, θ = {0:.4g} radians",
            1.0,
            point=6,
            more=rotary.frequencies.double().cpu()[:, None].tolist(),
        )
        for i, (name, rotary) in enumerate(recording.rotary.items())
    ]
    n_tokens = max(len(recording.attentions[each.kind].keys) for each in recording.rotary.values())
    ends = (-0.5, max(len(curve.x) for curve in curves) - 0.5)
    name = f"length of this text: {n_tokens}"
    curves.append(Curve(name, ends, (n_tokens, n_tokens), "dim", width=1, dash="dot"))
    x = Axis("pair of dimensions", ends=ends, hover="pair {x}")
    y = Axis("positions in a full turn", is_log=True, has_grid=True, format=",.0f")
    return Chart("rotary_waves", "Wavelengths", " of the pairs that turn", x, y, curves, HEIGHT)


def describe(recording: Recording) -> str:
    parts = [
        f"{name}: {rotary.frequencies.numel()} pairs, from {wave_text(float(waves.min()))} to "
        f"{wave_text(float(waves.max()))} positions in a full turn"
        for name, rotary in recording.rotary.items()
        for waves in [rotary.wavelengths]
    ]
    return "; ".join(parts) + "."


VIEW = View(
    name="rotary_waves",
    title="Rotary waves",
    explain=(
        "Each pair of dimensions of a query or key turns by θ radians per position: once in 2π/θ "
        "positions. Fast pairs tell neighbours apart; those that turn slower than the text is long "
        "hardly move in it (RoFormer, Su et al. 2021, section 3.2.2)."
    ),
    needs="rotary",
    content=chart,
    describe=describe,
    controls=(),
)
