"""The module in which Titan keeps its classes."""

from reeve.titan import TITAN_HOST, TITAN_PORT, TitanClient, TitanJob

__all__ = ["TITAN_HOST", "TITAN_PORT", "TitanClient", "TitanJob"]
