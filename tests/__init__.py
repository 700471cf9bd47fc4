"""The tests; they mirror glge/."""
