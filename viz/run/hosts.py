"""The server's own names and base path, and the page of one sentence that refuses the others."""

import ipaddress
from urllib.parse import urlsplit

from viz.app_packages import st
from viz.run.settings import host_names, is_public

SENTENCE_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Headscope</title>
<body style="font: 18px/1.5 system-ui, sans-serif; max-width: 34rem; margin: 20vh auto">
<p>{said}</p>"""
"""HTML of a page that says one sentence, {said}."""


def base_path() -> str:
    """The path that the app is served below, without slashes at its ends; empty: at the root."""
    return str(st.get_option("server.baseUrlPath")).strip("/")


def is_known_host(header: bytes) -> bool:
    """Tell whether the server answers to this name: at home to those of this machine."""
    names = host_names()
    try:
        host = (urlsplit(f"//{header.decode('latin-1')}").hostname or "").rstrip(".")
    except ValueError:
        return False
    for name in names:
        if name == "*" or host == name or (name.startswith("*.") and host.endswith(name[1:])):
            return True
    if names and is_public():
        return False
    if is_public():
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
