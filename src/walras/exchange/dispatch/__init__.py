"""Other people's schedulers: what the exchange gives to them, and what it takes from them."""
