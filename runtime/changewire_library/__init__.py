"""What all generated packages share: written by hand, and imported by each of them."""
