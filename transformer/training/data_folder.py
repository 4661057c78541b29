"""The places of the data's files: in a subfolder of their own, or in the data folder itself."""

from pathlib import Path

from transformer.training.task import TrainingError


class MissingData(TrainingError):
    """A file that is not there; the message names it."""


def find(data: Path | None, room: str, name: str) -> Path | None:
    """data/room/name, else data/name; None where neither is a file or there is no data folder."""
    if data is None:
        return None
    return next((file for file in (data / room / name, data / name) if file.is_file()), None)


def need(data: Path | None, room: str, name: str) -> Path:
    """The same; raises MissingData where there is none."""
    if data is None:
        raise MissingData(f"{name} needs --data DIR, a folder with {room}/{name} or {name}.")
    file = find(data, room, name)
    if file is None:
        raise MissingData(
            f"{data / room / name} is missing: --data must name the folder that holds "
            f"{room}/{name} or {name}."
        )
    return file
