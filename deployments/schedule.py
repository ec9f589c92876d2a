"""When a batch is run: cron's five fields and a time zone, checked before anything is asked of Prefect."""

from datetime import datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError

from tasks.errors import BadRequest


def check_schedule(cron: str, timezone: str) -> None:
    """Check that the schedule is one, and that it is ever due.

    Args:
        cron: minute, hour, day of the month, month, day of the week.
        timezone: a name of the IANA database, such as Europe/Berlin.

    Raises:
        BadRequest: it is not; the message says what is wrong.
    """
    try:
        zone = ZoneInfo(timezone)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise BadRequest(
            f"--timezone {timezone!r} is no time zone. Give a name such as Europe/Berlin or UTC."
        ) from error
    try:
        if len(cron.split()) != 5:
            raise CronSimError("it has not five fields")  # noqa: TRY301 - as every other mistake in it
        next(CronSim(cron, datetime.now(zone)))
    except CronSimError as error:
        raise BadRequest(
            f"--cron {cron!r} is no schedule ({error}). Give minute, hour, day of the month, month and day of the "
            'week, such as "0 20 * * 1-5" for every working day at 20:00.'
        ) from error
    except StopIteration:
        raise BadRequest(f"--cron {cron!r} is never due: there is no such day.") from None
