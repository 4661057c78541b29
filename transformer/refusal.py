"""The base of every error that a person can mend: it ends in one sentence, never in a traceback."""


class Refusal(Exception):
    """Something that is not done; the message is one sentence that says why, or what to change.

    Screens and the command line catch this one class and show what it says.
    """

    def __init__(self, said: str) -> None:
        # A name from a file may hold half a surrogate pair, which no screen or pipe takes.
        super().__init__(said.encode("utf-8", "backslashreplace").decode("utf-8"))
