"""Centres that share a CPU budget and train one model, from their neighbours' messages only."""
