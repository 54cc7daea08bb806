"""File formats that several sets share."""
