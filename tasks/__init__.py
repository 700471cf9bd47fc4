"""The task files: one YAML a task, and benchmark.yaml. Data only; `glge.tasks` reads them."""
