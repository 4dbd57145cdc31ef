"""Somebody's attention code: tokens are rows, one head at a time, nothing of neuromanifold is imported."""

from .model import forward

__all__ = ["forward"]
