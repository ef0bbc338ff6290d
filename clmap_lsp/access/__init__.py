"""How every array access of a kernel moves over work-items and loops, derived from its IR."""
