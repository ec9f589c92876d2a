"""Puts the SBOM into the wheel where PEP 770 has it, `.dist-info/sboms/`, if `make wheel` has written one."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class SbomHook(BuildHookInterface):  # type: ignore[type-arg] # hatchling's own configurations are Any
    """See the module."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Hatchling calls it before each wheel; an editable one has no SBOM."""
        sbom = Path(self.root) / "dist" / "diligence.cdx.json"
        if version == "standard" and sbom.exists():
            build_data["sbom_files"].append(str(sbom))
