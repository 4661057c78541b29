"""Packages that not everybody needs: where one is missing, a sentence says what brings it."""

from importlib.util import find_spec

from transformer.checkpoint import CheckpointError

EXTRAS = {
    "app": ("streamlit", "plotly", "pandas", "segno"),
    "cluster": ("pyarrow", "ray"),
    "hf": ("transformers",),
    "large": ("accelerate",),
    "paper": ("matplotlib",),
    "parquet": ("pyarrow",),
    "scores": ("sacrebleu",),
    "serve": ("ray",),
    "survey": ("pyarrow",),
    "yaml": ("yaml",),
}
"""Extra, as pyproject.toml names it -> what is imported of it."""
CLONE = "."
"""The name that pip is asked for: the folder of a clone. No package index has ours: whoever
registered it there would run what they like wherever this is installed by its name."""


class NotInstalled(CheckpointError):
    """A package that is not here; the message says how to install it."""


def missing(extra: str) -> list[str]:
    """Packages of an extra that are not here.

    >>> missing("app")
    []
    """
    return [name for name in EXTRAS[extra] if not _is_here(name)]


def _is_here(name: str) -> bool:
    """Tell a package from a mere folder of its name, such as that of Ray's own files in /tmp."""
    spec = find_spec(name)
    return spec is not None and spec.origin is not None


def how_to_install(extra: str) -> str:
    """Say how an extra is installed, in the imperative.

    >>> how_to_install("paper")
    'pip install ".[paper]" in the clone of Headscope'
    """
    return f'pip install "{CLONE}[{extra}]" in the clone of Headscope'


def require(extra: str, otherwise: str = "") -> None:
    """Raise NotInstalled unless all packages of an extra are here.

    otherwise: what else can be done, in the imperative.
    """
    if names := missing(extra):
        verb = "is" if len(names) == 1 else "are"
        other = f", or {otherwise}" if otherwise else ""
        raise NotInstalled(
            f"{', '.join(names)} {verb} not installed here: {how_to_install(extra)}{other}."
        )
