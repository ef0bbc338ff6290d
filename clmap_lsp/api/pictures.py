"""Pictures of accesses, for notebooks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from clmap_lsp.api.given import shown
from clmap_lsp.dataclass import dataclass
from clmap_lsp.errors import UsageError
from clmap_lsp.reading import reason

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import KernelAnalysis
    from clmap_lsp.devices.model import DeviceModel


@dataclass(frozen=True)
class AccessPicture:
    """Which work-item of one SIMD group touches which sector of global memory, or bank of local memory."""

    access: str
    caption: str
    """What there is to see, in a sentence."""
    svg: str
    """A whole SVG file; follows light and dark."""

    def save(self, path: str | Path) -> None:
        """Write the SVG file. Raises: UsageError if it cannot be written."""
        if not isinstance(path, str | Path):
            raise UsageError(f"save({shown(path)}): give the path of a file, as in save('access.svg')")
        try:
            Path(path).write_text(self.svg, encoding="utf-8")
        except (OSError, ValueError) as error:
            why = reason(error) if isinstance(error, OSError) else "it is no name of a file"
            raise UsageError(f"{path}: {why}; name a file that can be written") from None

    def __repr__(self) -> str:
        return f"<picture of {self.access}: {self.caption}>"

    def _repr_svg_(self) -> str:
        return self.svg


def picture_of(analysis: KernelAnalysis, device: DeviceModel, access: str) -> AccessPicture:
    """Draw the access of a buffer, or of a text, that has most of the traffic.

    Raises: UsageError as for `KernelReport.picture`.
    """
    from clmap_lsp.report.html import check_requirements
    from clmap_lsp.report.html_lanes import draw, pictures
    from clmap_lsp.report.html_svg import standalone

    wanted = [it for it in analysis.accesses if access in (it.access.buffer, it.access.place_text)]
    if not wanted:
        known = ", ".join(dict.fromkeys(it.access.place_text for it in analysis.accesses)) or "none"
        raise UsageError(f"{analysis.name} has no access {shown(access)}; there are: {known}")
    check_requirements("a picture needs")
    drawn, _ = pictures(wanted, analysis.launch, device, 1)
    if not drawn:
        raise UsageError(f"the addresses of {access!r} are not known for this launch and device")
    text = drawn[0].accesses[0].access.place_text
    svg = standalone(draw(f"{analysis.name}-{wanted[0].access.buffer}", drawn[0]))
    return AccessPicture(text, drawn[0].caption, svg)
