"""Links to rooms and to the windows of a talk; what answers at them is in room_routes.py."""

from dataclasses import replace

from viz.run.hosts import base_path
from viz.screen import Screen, link


def rooms_address() -> str:
    """The path below which rooms are."""
    return f"{base()}/talk"


def windows(screen: Screen, code: str) -> dict[str, str]:
    """Links to the windows of a talk that is at this screen."""
    return {role: seen_by(screen, role, code) for role in ("stage", "presenter")}


def seen_by(screen: Screen, role: str | None, code: str | None) -> str:
    """The address of a screen for a window of this role."""
    return link(replace(screen, role=role, room=code, draft=None))


def base() -> str:
    """The path below which the app is; empty where it is the server's first."""
    path = base_path()
    return f"/{path}" if path else ""
