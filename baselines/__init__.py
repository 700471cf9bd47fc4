"""Recipes of the published baselines: one YAML file each."""
