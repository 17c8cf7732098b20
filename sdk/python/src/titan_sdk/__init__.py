"""Titan's SDK by its own name, on Reeve: see reeve.titan."""

from reeve.titan import TitanClient, TitanJob

__all__ = ["TitanClient", "TitanJob"]
