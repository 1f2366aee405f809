"""Models of every release, and what they said."""
