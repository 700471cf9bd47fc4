"""From raw sources to the benchmark's own layout: building, levels, checks, statistics, the models' tokenisation.

Every step that writes data writes a manifest beside it (`manifest.py`) and writes whole or not at all (`output.py`).
The same inputs and options give the same bytes. Nothing here downloads anything.
"""
