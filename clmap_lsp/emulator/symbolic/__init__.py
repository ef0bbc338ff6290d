"""The symbolic engine: exact address streams of a whole launch without running its work-items one by one.

`count` gives requests, sectors and wavefronts by access, `measure.measure` AIWC's memory metrics, for any
size of launch, or the reason why this engine cannot tell.
"""

from clmap_lsp.emulator.symbolic.control import Bail, Budget, Spending
from clmap_lsp.emulator.symbolic.counts import SiteCount, SymbolicResult, Total, count

__all__ = ["Bail", "Budget", "SiteCount", "Spending", "SymbolicResult", "Total", "count"]
