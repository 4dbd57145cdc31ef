"""Questions about parameter points: same function, fiber, normal form, singular point. One file a question."""
