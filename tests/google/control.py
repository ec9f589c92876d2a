"""`/_emulator/…`: figures read and behaviour set from another process. None of it is counted or slowed.

GET  /_emulator/counts      the figures of `Counts`
GET  /_emulator/log         [[method, path, user, status], …]
POST /_emulator/reset       figures to 0, no faults
POST /_emulator/faults      [{"do": "refuse", "on": "files.list", "every": 5, …}]: these and no others
POST /_emulator/settings    {"latency": 0.05, …}: those named
POST /_emulator/token       {"email": …, "expires_in": …}: a new access token, {"access_token": …}
"""

import msgspec

from tests.google.answers import Answer, Call, json_answer
from tests.google.faults import Fault
from tests.google.service import Service
from tests.google.settings import Settings


def controlled(service: Service, call: Call) -> Answer:
    """Does what a control address says; 400 for data that does not fit."""
    try:
        return json_answer(msgspec.json.encode(_done(service, call)))
    except (msgspec.DecodeError, KeyError) as error:
        return json_answer({"error": str(error)}, 400)


def _done(service: Service, call: Call) -> object:
    match call.path.rsplit("/", 1)[-1]:
        case "counts":
            return service.counting.counts(service.faults.struck)
        case "log":
            return list(service.counting.log)
        case "reset":
            reset(service)
        case "faults":
            service.faults.set(*msgspec.json.decode(call.body, type=list[Fault]))
        case "settings":
            whole = msgspec.to_builtins(service.settings) | msgspec.json.decode(call.body)
            put(service.settings, msgspec.convert(whole, Settings))
        case "token":
            asked = msgspec.json.decode(call.body)
            return {"access_token": service.accounts.token(asked["email"], expires_in=asked.get("expires_in"))}
        case other:
            raise KeyError(other)
    return {}


def reset(service: Service) -> None:
    """Figures to 0, the log empty, no faults; the world and the settings stay."""
    service.counting.reset()
    service.faults.set()
    service.oauth.refreshes = 0


def put(settings: Settings, new: Settings) -> None:
    """Writes settings over those that the service already holds."""
    for name in settings.__struct_fields__:
        setattr(settings, name, getattr(new, name))
