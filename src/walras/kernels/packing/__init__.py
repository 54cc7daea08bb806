"""Compiled packing: items of several resources and shares of devices into machines."""
