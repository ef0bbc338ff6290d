"""What a compiler's back end leaves of a kernel: instructions, registers and accesses, without a driver."""
