"""How the engine leaves its straight way: boxes to split, budgets that end, reasons to give up."""

from __future__ import annotations

from dataclasses import replace

from clmap_lsp.dataclass import dataclass
from clmap_lsp.source.span import Span


@dataclass(frozen=True, slots=True)
class Bail:
    """Why the symbolic engine cannot follow a kernel, and where."""

    reason: str
    span: Span


@dataclass(frozen=True, slots=True)
class Budget:
    """What one count may cost. All are numbers of steps, so that results do not depend on the machine."""

    cells: int = 1 << 20
    """Elements of one array."""
    work_cells: int = 1 << 23
    """Elements of all arrays that are made or counted; below a second of work."""
    computed_cells: int = 1 << 29
    """Elements of all arrays that expressions give, those that they only read included; a second or two."""
    patterns: int = 8_192
    """Different patterns of addresses whose requests are counted; a second or two."""
    turns: int = 4_096
    """Loop turns run one by one, over all boxes."""
    boxes: int = 2_048
    """Boxes of work-groups looked at."""
    statements: int = 1 << 18
    """Statements run, in each box and turn anew; two seconds. 480 public kernels take 135,977 at most."""
    mask_cells: int = 1 << 12
    """Up to so many elements, a mask over groups and lanes is taken to cost less than splitting a box; with
    0, boxes are always split, and loops as well."""
    whole: int = 220_000
    """All of it together, as `Spending.whole` has it; two seconds. Public files take 251,791."""
    work: int = 1 << 17
    """What launches that are compared with one may cost together, as `Spending.work` has it; a second."""
    sampled_groups: int = 16
    """Work-groups looked at where the whole launch is over the budget; 0 leaves such launches unknown."""


_IRREGULAR = "addresses too irregular for the whole launch to be enumerated"


@dataclass(slots=True)
class Spending:
    """What has been spent of a budget so far, in one count or in several that share it."""

    budget: Budget
    cells: int = 0
    computed: int = 0
    patterns: int = 0
    turns: int = 0
    boxes: int = 0
    statements: int = 0
    arrays: int = 0
    """Arrays that expressions gave, of whatever size."""
    accesses: int = 0
    """Accesses whose addresses were counted, in each box and turn anew."""

    @property
    def is_over(self) -> bool:
        """True if more has been spent than launches may cost that are compared with one."""
        budget = self.budget
        return (
            self.work > budget.work
            or self.cells > budget.work_cells
            or self.computed > budget.computed_cells
            or self.patterns > budget.patterns
            or self.turns > budget.turns
            or self.boxes > budget.boxes
            or self.statements > budget.statements
        )

    def _check_whole(self) -> None:
        if self.whole > self.budget.whole:
            raise OverBudgetError("too much work of too many kinds", by_size=False)

    @property
    def work(self) -> int:
        """All of it together, in statements run one by one: each took some six microseconds."""
        arrays = self.computed // 1_600 + self.cells // 50
        return self.statements + 20 * self.accesses + 30 * self.patterns + 8 * self.boxes + arrays

    @property
    def whole(self) -> int:
        """The work, what each array costs however small, and each turn of a loop that is run by itself."""
        return self.work + 3 * self.arrays + 20 * self.turns

    def step(self) -> None:
        """Note a statement that is run. Raises: OverBudgetError."""
        self.statements += 1
        if self.statements > self.budget.statements:
            raise OverBudgetError(
                f"more than {self.budget.statements:,} statements that are run one by one", by_size=False
            )

    def for_a_sample(self) -> Spending:
        """Return what may be spent on some of the work-groups where this was not enough for all."""
        whole = self.budget.whole
        return Spending(replace(self.budget, whole=max(whole - self.whole, whole // 5)))

    def add(self, other: Spending) -> None:
        """Note what another count spent, whatever it comes to."""
        self.cells += other.cells
        self.computed += other.computed
        self.arrays += other.arrays
        self.patterns += other.patterns
        self.turns += other.turns
        self.boxes += other.boxes
        self.statements += other.statements
        self.accesses += other.accesses

    def compute(self, cells: int) -> None:
        """Note the elements of an array that an expression gives. Raises: OverBudgetError."""
        self.computed += cells
        self.arrays += 1
        if self.computed > self.budget.computed_cells:
            raise OverBudgetError("values that differ along too many loops, too many times")

    def count_pattern(self) -> None:
        """Note a pattern that is counted. Raises: OverBudgetError."""
        self.patterns += 1
        if self.patterns > self.budget.patterns:
            raise OverBudgetError("accesses in too many different patterns", by_size=False)

    def can_spend(self, cells: int) -> bool:
        """Tell whether so many elements of arrays can still be made."""
        return self.cells + cells <= self.budget.work_cells

    def foresee(self, cells: int) -> None:
        """End here if what is still to come would. Raises: OverBudgetError."""
        if not self.can_spend(cells):
            raise OverBudgetError(_IRREGULAR)

    def spend(self, *, cells: int = 0, turns: int = 0, boxes: int = 0) -> None:
        """Note some work. Raises: OverBudgetError."""
        self.cells += cells
        self.turns += turns
        self.boxes += boxes
        if self.cells > self.budget.work_cells:
            raise OverBudgetError(_IRREGULAR)
        if self.turns > self.budget.turns:
            raise OverBudgetError(
                f"loops of more than {self.budget.turns} iterations that differ from each other",
                by_size=False,
            )
        self._check_whole()
        if self.boxes > self.budget.boxes:
            raise OverBudgetError(f"more than {self.budget.boxes} kinds of work-groups")


class OverBudgetError(Exception):
    """A launch costs more than its budget."""

    def __init__(self, reason: str, *, by_size: bool = True) -> None:
        super().__init__(reason)
        self.reason = reason
        self.by_size = by_size
        """True if some of its work-groups alone would cost less."""


class BailError(Exception):
    """Carries a `Bail` to whoever asked."""

    def __init__(self, bail: Bail) -> None:
        super().__init__(bail.reason)
        self.bail = bail


class SplitError(Exception):
    """A value differs in kind along a dimension: run the parts between the cuts one by one.

    With `modulo`, the parts are the work-groups with the same remainder instead.
    """

    def __init__(self, dimension: int, cuts: tuple[int, ...], modulo: int = 1) -> None:
        super().__init__(f"split dimension {dimension} at {cuts}")
        self.dimension = dimension
        self.cuts = cuts
        self.modulo = modulo


class SplitTurnsError(Exception):
    """A loop's turns before and from `cut` on differ in kind: run them one after the other."""

    def __init__(self, dimension: int, cut: int) -> None:
        super().__init__(f"split loop {dimension} at turn {cut}")
        self.dimension = dimension
        self.cut = cut


class NotRegularError(Exception):
    """A loop is not the same in every turn: run its turns one by one."""
