"""Two actors that cannot share an environment talk to each other: ``python -m app``."""

from __future__ import annotations

import logging

import ray

import greenroom.ray
from app.legacy import Releaser
from app.modern import Checker

ray.init(logging_level=logging.ERROR, log_to_driver=False, include_dashboard=False)
releaser = greenroom.ray.options(Releaser, missing="sync").remote()
checker = greenroom.ray.options(Checker, missing="sync").remote(releaser)
print(ray.get(releaser.tell.remote()))
print(ray.get(checker.tell.remote()))
print(ray.get(checker.check.remote("1.4.2")))
