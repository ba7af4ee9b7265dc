"""What all displays share: their construction, axes, colours, labels and marks."""
