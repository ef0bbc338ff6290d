"""How many compute units a device has: models speak for a generation, whose products differ in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clmap_lsp.dataclass import dataclass

if TYPE_CHECKING:
    from clmap_lsp.devices.model import DeviceModel


@dataclass(frozen=True, slots=True)
class Units:
    """The compute units, and of which product that is known; `None` where it is not."""

    count: int | None
    product: str


def compute_units(device: DeviceModel) -> Units:
    """Return the device's compute units: from its model, else of the one product that the records hold."""
    if device.limits.compute_units is not None or not device.is_product:
        return Units(device.limits.compute_units, device.id)
    from clmap_lsp.research import DatabaseError, choices, known_records

    try:
        found = [it.platform for it in choices(known_records(), device.id) if it.exact]
    except DatabaseError:  # `db` says what is wrong with the records; here they only know nothing.
        found = []
    return Units(found[0].compute_units, found[0].key) if len(found) == 1 else Units(None, device.id)
