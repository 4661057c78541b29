"""Opening a checkpoint of any format: the first format that a path fits."""

from pathlib import Path

from transformer.checkpoint import Checkpoint, CheckpointError, Description
from transformer.device import choose_device
from transformer.discover import discover
from transformer.formats.format import Format


def load_checkpoint(
    path: str | Path, device: str | None = None, weights: str | None = None
) -> Checkpoint:
    """Open a checkpoint of any format: a folder of ours, of Hugging Face's, a file of weights.

    device: where to run; None chooses CUDA, else MPS, else CPU. weights: another weights file of
    the folder, such as "snapshots/000100.safetensors". Raises CheckpointError, or DeviceError for
    a device that is not here.
    """
    path, chosen = Path(path).absolute(), choose_device(device)  # so that "." has a name too
    path = path / weights if weights else path
    return format_of(path).load(path, chosen)


def describe_checkpoint(path: Path) -> Description:
    """What is known of it before its weights are read. Raises CheckpointError."""
    return format_of(path).describe(path)


def format_of(path: Path) -> Format:
    """The format that a path is in. Raises CheckpointError where it is none that is known."""
    formats: dict[str, Format] = discover("transformer.formats", "FORMAT")
    fitting = (each for each in formats.values() if each.fits(path))
    found = next(fitting, None)
    if found is None:
        known = "; ".join(each.title for each in formats.values())
        raise CheckpointError(f"{path.name} {_fault(path)}. What opens: {known}.")
    return found


def _fault(path: Path) -> str:
    """Why no format fits, after the path's name."""
    if not path.exists():
        return "is not there"
    if path.suffix or not path.is_file():
        return "is not a checkpoint"
    return (
        "is not a checkpoint: without an ending to its name only what torch.save wrote is known, "
        "and other weights end in .safetensors or .npz"
    )
