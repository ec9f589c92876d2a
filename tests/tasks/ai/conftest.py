"""Settings of models."""

import pytest


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Sets the settings of a test, which begins without any of a model."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "DILIGENCE_AI_MODEL", "DILIGENCE_AI_API", "DILIGENCE_AI_WINDOW"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch
