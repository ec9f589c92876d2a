"""The command `diligence` with every record of every logger on stderr, whatever levels are configured."""

import logging
import sys
import traceback


class Talkative(logging.Logger):
    """What each logger becomes; its filters count, its level and its handlers do not."""

    def isEnabledFor(self, level: int) -> bool:  # noqa: N802 - the base class's signature
        return True

    def callHandlers(self, record: logging.LogRecord) -> None:  # noqa: N802
        lines = traceback.format_exception(*record.exc_info) if record.exc_info and record.exc_info[0] else []
        sys.stderr.write(f"TALKATIVE {record.getMessage()} {vars(record)} {''.join(lines)}\n")


if __name__ == "__main__":
    for name in ("isEnabledFor", "callHandlers"):
        setattr(logging.Logger, name, getattr(Talkative, name))
    from deployments.cli import main

    logging.getLogger("talkative").debug("to begin with")
    main()
