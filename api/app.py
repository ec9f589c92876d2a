"""The service: its routes, put together. Handlers hold no logic; the operations live in tasks/."""

from collections.abc import Mapping, Sequence
from typing import Any

from litestar import Router
from litestar.datastructures import CacheControlHeader
from litestar.di import Provide
from litestar.openapi.spec import SecurityRequirement
from litestar.plugins.pydantic import PydanticPlugin
from litestar.static_files import create_static_files_router
from litestar.types import Guard

from api import ai, companies, drive, files, health, pages
from api.auth import needs_key
from api.bodies import JsonRequest
from api.calls import Calls, prepare_tracking
from api.front import Service
from api.problems import respond
from api.schema import KEY_SCHEME, STATIC, openapi
from api.settings import ApiSettings

# Reading documents is the work of as many processes as there are cores; models and sources are waited for.
_AT_ONCE = {"documents": 8, "ai": 32, "companies": 32}

_STATIC_AGE = CacheControlHeader(max_age=3600, public=True)


def create_app(trusted_hosts: Sequence[str] | None = None) -> Service:
    """The service with the settings in force now.

    Args:
        trusted_hosts: host names and addresses, without ports, that requests must be for and come
            from; None trusts all. For a service without API keys.

    Raises:
        pydantic.ValidationError: a setting has a wrong value.
        NotConfigured: tracked calls are asked for, and no Prefect server is named.
    """
    settings = ApiSettings.current()
    tracked = settings.track_calls == "inline"
    if tracked:
        prepare_tracking()
    calls = {area: Calls(at_once, tracked=tracked) for area, at_once in _AT_ONCE.items()}
    guards: list[Guard] = [needs_key(settings.keys)] if settings.keys else []
    security: list[SecurityRequirement] = [{KEY_SCHEME: []}] if settings.keys else []

    def area(path: str, name: str, handlers: Sequence[Any]) -> Router:
        dependencies: Mapping[str, Any] = {"calls": Provide(lambda: calls[name], sync_to_thread=False)}
        return Router(path, route_handlers=handlers, dependencies=dependencies, guards=guards, security=security)

    service = Service(
        [
            area("/v1/drive", "documents", [drive.text, drive.index]),
            area("/v1/ai", "ai", [ai.ask]),
            area("/v1/companies", "companies", [companies.facts, companies.ask]),
            area("/file/d", "documents", [files.view]),
            health.live,
            health.ready,
            pages.start,
            create_static_files_router("/static", [STATIC], include_in_schema=False, cache_control=_STATIC_AGE),
        ],
        debug=False,
        exception_handlers={Exception: respond},
        logging_config=None,  # the process that serves decides where its log goes
        openapi_config=openapi({"QuestionAboutCompany": companies.SECOND_NAMES}),
        plugins=[PydanticPlugin(validate_strict=True)],
        request_class=JsonRequest,
        request_max_body_size=settings.max_body_bytes,
    )
    service.trusted_hosts = trusted_hosts
    return service
