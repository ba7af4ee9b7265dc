"""Which features the model needs."""

__all__: list[str] = []
