"""What may change in a row, and what the model should answer then."""
