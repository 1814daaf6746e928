"""greenroom's tests: the installed command, real processes, a real package index."""
