"""What a fitted model would be without some of its rows."""
