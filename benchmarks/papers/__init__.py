"""The papers that the project starts from, item by item: what they say, and what we find."""
