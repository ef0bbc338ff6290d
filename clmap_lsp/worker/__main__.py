"""`python -m clmap_lsp.worker`: started by the server, not by people."""

import sys

from clmap_lsp.worker.child import main

sys.exit(main())
