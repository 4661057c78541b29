"""The server's logs: as usual, or each message as a line of JSON; without what people typed."""

import json
import logging
import time
import traceback

from viz.run.settings import logs_json, logs_texts

LOGGERS = ("", "streamlit", "uvicorn", "uvicorn.error")


class OneLine(logging.Formatter):
    """A message as a line of JSON: time (UTC), level, logger, message, and where it failed."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        when = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        fields = {
            "time": f"{when}.{int(record.msecs):03}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info and record.exc_info[1] is not None:
            fields["failure"] = failure(record.exc_info[1])
        return json.dumps(fields, ensure_ascii=True)


def set_up_logs() -> None:
    """Let all loggers write as the settings say."""
    if not logs_json():
        return
    if not logging.getLogger().handlers:
        logging.getLogger().addHandler(logging.StreamHandler())
    for name in LOGGERS:
        for handler in logging.getLogger(name).handlers:
            handler.setFormatter(OneLine())


def failure(error: BaseException) -> str:
    """Say where it was raised.

    Its message may quote what somebody typed: that is left out unless the operator asks for it.
    """
    if logs_texts():
        return "".join(traceback.format_exception(error))
    where = "".join(traceback.format_tb(error.__traceback__))
    cause = error.__cause__ or error.__context__
    after = f" after {type(cause).__name__}" if cause is not None else ""
    return f"{type(error).__name__}{after}\n{where}"
