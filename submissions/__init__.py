"""The submission format and an example submission with its references. Data only."""
