"""Accesses, launches and device rules joined: what every access of a kernel costs."""
