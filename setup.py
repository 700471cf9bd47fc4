"""One distribution from four folders: glge/ is the library, tasks/, submissions/ and baselines/ are its data.

Everything else about the package stands in pyproject.toml.
"""

import re
from pathlib import Path

from setuptools import setup

HERE = Path(__file__).parent
VERSION = re.search(r'__version__ = "(.+)"', (HERE / "glge" / "__init__.py").read_text(encoding="utf-8"))
assert VERSION is not None

LIBRARY = sorted(".".join(found.relative_to(HERE).parent.parts) for found in HERE.glob("glge/**/__init__.py"))

setup(
    version=VERSION[1],
    packages=[*LIBRARY, "glge_tasks", "glge_baselines", "glge_submissions"],
    package_dir={
        "glge": "glge",
        "glge_tasks": "tasks",
        "glge_baselines": "baselines",
        "glge_submissions": "submissions",
    },
    package_data={
        "glge.reports": ["page/*"],
        "glge.preparation": ["*.txt"],
        "glge": ["py.typed", "*.json"],
        "glge_tasks": ["*.yaml", "*.json", "*.csv"],
        "glge_baselines": ["*.yaml", "*.md"],
        "glge_submissions": ["*.md", "example/*", "example/**/*"],
    },
)
