"""How much host code is read for one question, counted in work: every machine gives the same answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from clmap_lsp.dataclass import dataclass
from clmap_lsp.interruption import checkpoint

STEPS = 60_000
STEPS_A_CHARACTER = 8
"""Programs take up to four, of which half may come up in one go."""
_WORK_OF_A_CALL = 6


@dataclass(slots=True)
class Budget:
    """What is left; nearer files are asked for first, so what is cut off is what lies furthest away."""

    read: int = 512 << 20
    """Characters of text that are searched for words."""
    parsed: int = 64 << 20
    """Characters that are parsed: about a microsecond each."""
    steps: int = 20_000_000
    """Statements and expressions that are run."""
    free_calls: int = 25_000
    """Calls of the project's own functions whose own work is not counted."""
    was_short: bool = False
    """A share was spent; something was left out in it."""

    def fit_steps(self, characters: int) -> None:
        """Let what is run take work in proportion to the text that launches, however it calls itself."""
        self.steps = min(self.steps, STEPS + STEPS_A_CHARACTER * characters)

    @property
    def is_spent(self) -> bool:
        """Tell whether something was left out."""
        return self.was_short or min(self.read, self.parsed, self.steps) < 0

    @contextmanager
    def half_of_steps(self) -> Iterator[None]:
        """Let what is run within use half of the steps that are left: what comes after has its own."""
        kept = max(self.steps, 0) // 2
        self.steps -= kept
        try:
            yield
        finally:
            self.was_short |= self.steps < 0
            self.steps += kept

    def take_read(self, characters: int) -> bool:
        """Tell whether a text of this length may still be read, and count it."""
        checkpoint()
        self.read -= characters
        return self.read >= 0

    def take_parsed(self, characters: int) -> bool:
        """Tell whether a text of this length may still be parsed, and count it if so.

        One that is too long for what is left leaves it to shorter ones.
        """
        checkpoint()
        if characters > self.parsed:
            self.was_short = True
            return False
        self.parsed -= characters
        return True

    def work_of_a_call(self) -> int:
        """Return what finding a function and binding its parameters takes, in steps."""
        self.free_calls -= 1
        return _WORK_OF_A_CALL if self.free_calls < 0 else 0

    def take_steps(self, count: int) -> bool:
        """Tell whether the program may still be followed, and count the steps."""
        checkpoint()
        self.steps -= count
        return self.steps >= 0


def for_one_kernel_file() -> Budget:
    """Return what looking at one kernel file may cost: about a second, beside hundreds of host files too."""
    return Budget(read=48 << 20, parsed=1 << 20, steps=25_000)
