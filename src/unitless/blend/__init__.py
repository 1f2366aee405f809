"""The Blend, an ensemble of learners: its experts, and one mixture per kind of loss."""
