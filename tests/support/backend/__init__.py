"""A PEP 517 and PEP 660 build backend that needs nothing but Python; copied into sources."""
