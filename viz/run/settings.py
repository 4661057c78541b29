"""Settings of an operator, the server's own names, and the process in which the app is a guest."""

import ipaddress
import os
import sys
from types import ModuleType
from urllib.parse import urlsplit

from transformer.device import asked_dtype
from transformer.hugging_face.loading import asked_map, offload_folder
from transformer.refusal import Refusal, quoted
from viz.app_packages import draws_pages, st

# Settings of an operator, by environment variables.

PUBLIC, CPU_INSTEAD = "HEADSCOPE_PUBLIC", "HEADSCOPE_CPU_INSTEAD"
TEMPLATES, MODELS, LIVE = "HEADSCOPE_TEMPLATES", "HEADSCOPE_MODELS", "HEADSCOPE_LIVE"
LIVE_VALUES = ("yes", "first", "no")


def opened_at_start() -> str:
    """HEADSCOPE_CHECKPOINT: a path, or a name on the hub, that everybody finds open."""
    return os.environ.get("HEADSCOPE_CHECKPOINT", "")


def is_public() -> bool:
    """HEADSCOPE_PUBLIC, yes or no: whether strangers use the app, and limits hold.

    Where it is not set: whether the server listens beyond this machine.
    """
    text = os.environ.get(PUBLIC, "")
    return text == "yes" if text in ("yes", "no") else is_reached_by_others()


def host_names() -> tuple[str, ...]:
    """HEADSCOPE_HOSTS: names that the server answers to, separated by commas; *.example.com.

    Beside this machine's own at home; in public mode all names where none is set.
    """
    names = os.environ.get("HEADSCOPE_HOSTS", "").lower().split(",")
    return tuple(filter(None, (name.strip().rstrip(".") for name in names)))


def embedding_pages() -> tuple[str, ...]:
    """HEADSCOPE_FRAMES: origins whose pages may show the app in a frame, separated by spaces."""
    pages = os.environ.get("HEADSCOPE_FRAMES", "").split()
    return tuple(each for each in pages if not set(each) & set(";,'\""))


def page_address() -> str:
    """HEADSCOPE_SITE: the address of a page of `python -m viz site`; empty: there is none."""
    address = os.environ.get("HEADSCOPE_SITE", "")
    return address if urlsplit(address).scheme in ("http", "https") else ""


def live() -> str:
    """HEADSCOPE_LIVE: yes serves the page without a server at /live/, and offers it to who would
    wait; first leads there who opens the app; no.
    """
    text = os.environ.get(LIVE, "")
    return text if text in LIVE_VALUES else "yes"


def metrics_address() -> tuple[str, int] | None:
    """HEADSCOPE_METRICS: where metrics are served, as in 127.0.0.1:9464; None: nowhere."""
    host, _, port = os.environ.get("HEADSCOPE_METRICS", "").rpartition(":")
    is_port = port.isascii() and port.isdigit() and 0 < int(port[:6]) < 2**16
    return (host or "127.0.0.1", int(port)) if is_port else None


def logs_json() -> bool:
    """HEADSCOPE_LOG: json writes each message of the log as one line of JSON."""
    return os.environ.get("HEADSCOPE_LOG") == "json"


def logs_texts() -> bool:
    """HEADSCOPE_LOG_TEXTS: yes lets messages of failures, which may quote people, into the log."""
    return os.environ.get("HEADSCOPE_LOG_TEXTS") == "yes"


def logs_times() -> bool:
    """HEADSCOPE_TIMES: yes writes into the log how long each part of a page took."""
    return os.environ.get("HEADSCOPE_TIMES") == "yes"


def is_reached_by_others() -> bool:
    """Tell whether the server listens beyond this machine, as Streamlit does by default."""
    if not draws_pages():
        return False
    address = st.get_option("server.address")
    if address in ("localhost", "localhost."):
        return False
    try:
        return not ipaddress.ip_address(str(address)).is_loopback
    except ValueError:
        return True


def uses_cpu_instead() -> bool:
    """HEADSCOPE_CPU_INSTEAD: yes lets the CPU do what the GPU has too little memory for."""
    return os.environ.get(CPU_INSTEAD) == "yes"


def models_address() -> str:
    """HEADSCOPE_MODELS: HOST:PORT of models that answer elsewhere; empty: they run here.

    Raises Refusal.
    """
    text = os.environ.get(MODELS, "")
    host, _, port = text.rpartition(":")
    is_port = port.isascii() and port.isdigit() and 0 < int(port[:6]) < 2**16
    if text and not (host and is_port and not set(host) & set("/@ ")):
        raise Refusal(f"{MODELS} must be HOST:PORT of python -m viz models, not {quoted(text)}.")
    return text


def models_token() -> str:
    """HEADSCOPE_MODELS_TOKEN: what models elsewhere ask for; empty: nothing.

    Raises Refusal.
    """
    text = os.environ.get(f"{MODELS}_TOKEN", "")
    if not (text.isascii() and text.isprintable() and " " not in text):
        raise Refusal(f"{MODELS}_TOKEN must be letters and digits without spaces.")
    return text


def runs_here_instead() -> bool:
    """HEADSCOPE_MODELS_INSTEAD: here lets this process do what models elsewhere do not answer."""
    return os.environ.get(f"{MODELS}_INSTEAD") == "here"


def runs_templates() -> bool:
    """HEADSCOPE_TEMPLATES, yes or no: whether chat templates run, which are programs of a folder.

    Where it is not set: at home alone.
    """
    text = os.environ.get(TEMPLATES, "")
    return text == "yes" if text in ("yes", "no") else not is_public()


def memory() -> int:
    """HEADSCOPE_MEMORY: MiB for models, answers, recordings and pictures of all sessions; 2048.

    In bytes.
    """
    return whole_number("HEADSCOPE_MEMORY", 2048) * 2**20


def threads() -> int:
    """HEADSCOPE_THREADS: CPU threads per forward pass; 1, as many people share the machine."""
    return whole_number("HEADSCOPE_THREADS", 1)


def whole_number(variable: str, usual: int) -> int:
    """Return the number in a variable. Raises Refusal for what is not a whole number above 0."""
    text = os.environ.get(variable, str(usual))
    if not (text.isascii() and text.isdigit() and 0 < int(text[:12]) <= 10**9):
        raise Refusal(f"{variable} must be a whole number above 0, not {quoted(text)}.")
    return int(text)


def check_settings() -> None:
    """Raise Refusal for one that cannot be read, before the server starts."""
    memory()
    threads()
    asked_dtype()
    asked_map()
    offload_folder()
    models_address()
    models_token()
    if (instead := os.environ.get(f"{MODELS}_INSTEAD", "here")) != "here":
        raise Refusal(f"{MODELS}_INSTEAD must be here, or not be set; it is {quoted(instead)}.")
    if (text := os.environ.get(LIVE, "yes")) not in LIVE_VALUES:
        raise Refusal(f"{LIVE} must be yes, first or no, not {quoted(text)}.")
    for variable in (CPU_INSTEAD, PUBLIC, TEMPLATES):
        text = os.environ.get(variable, "no")
        if text not in ("yes", "no"):
            raise Refusal(f"{variable} must be yes or no, not {quoted(text)}.")


# The server's own names and base path, and the page of one sentence that refuses the others.

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


# The `__main__` of a process in which the app is a guest: a notebook, or somebody's script.
#
# Streamlit puts each run of its script in that place; what a notebook defines could then no
# longer be found by its name, as pickling it asks.

_modules: list[ModuleType] = []


def keep_main_module() -> None:
    """Remember the one that there is."""
    _modules[:] = [sys.modules["__main__"]]


def put_back_main_module() -> None:
    """Put it back, where one was kept."""
    if _modules:
        sys.modules["__main__"] = _modules[0]
