"""The parts of the Blend: recipes (who is on the panel), panel (their scores), one mixer a loss."""
