"""One file a kind of rewrite. Each has `KIND` and `propose(subject)`; they are found by their file names."""
