"""Commands of the exchange: one file a command; each parses, asks the client and prints."""
