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
OURS = "headscope" if __name__.startswith("headscope.") else "."
"""The name that pip is asked for: in the repository, its folder."""


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


def require(extra: str, otherwise: str = "") -> None:
    """Raise NotInstalled unless all packages of an extra are here.

    otherwise: what else can be done, in the imperative.
    """
    if names := missing(extra):
        verb = "is" if len(names) == 1 else "are"
        install = f'pip install "{OURS}[{extra}]"'
        other = f", or {otherwise}" if otherwise else ""
        raise NotInstalled(f"{', '.join(names)} {verb} not installed here: {install}{other}.")
