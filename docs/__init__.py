"""The site: its pages, and what makes them."""
