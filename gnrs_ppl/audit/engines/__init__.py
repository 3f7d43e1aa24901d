"""Databases that a check runs in, where the events are: one call for all of them (docs/engines.md)."""

from __future__ import annotations

from gnrs_ppl.audit.engines.base import Engine, connected, log_on

__all__ = ["Engine", "connected", "log_on"]
