"""Traces from other programs' files: one module a format, one table of them.

Each reader turns a file into rows of text under the format's own column names (:mod:`.raw`). A map
of columns to fields, one for each format, names what they mean; :mod:`.make` checks the rows and
builds the trace. So a rule about good rows is written once and holds for every format.
"""
