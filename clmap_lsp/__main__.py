"""`python -m clmap_lsp`."""

import sys

from clmap_lsp.cli import main

if __name__ == "__main__":
    sys.exit(main())
