"""Settings of all tests."""

from hypothesis import settings

# How long an example takes is the machine's affair.
settings.register_profile("glge", deadline=None)
settings.load_profile("glge")
