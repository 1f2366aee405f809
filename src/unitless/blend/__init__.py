"""The Blend: experts (tables), ensemble (their scores), and one mixture per kind of loss."""
