"""Causal multi-head attention with rotary positions and skip connections: `forward(weights, x)`, x of shape (tokens, width)."""

import numpy as np


def faulty(layer, head):
    """Whether the place is the one where a test planted a fault; in the project as it is, nowhere."""
    return False


def softmax(scores, axis):
    shifted = scores - scores.max(axis=axis, keepdims=True)
    e = np.exp(shifted)
    return e / e.sum(axis=axis, keepdims=True)


def rotate(x, pairs, angles):
    """Turn each pair of columns of x (tokens, a) by position times angle."""
    out = x.copy()
    phase = np.outer(np.arange(len(x)), angles)
    first, second = x[:, pairs[:, 0]], x[:, pairs[:, 1]]
    out[:, pairs[:, 0]] = first * np.cos(phase) - second * np.sin(phase)
    out[:, pairs[:, 1]] = first * np.sin(phase) + second * np.cos(phase)
    return out


def attention(x, w_q, w_k, w_v, w_o, layer):
    heads, a, _ = w_q.shape
    tokens = len(x)
    total = 0
    for head in range(heads):
        q, k, v = x @ w_q[head].T, x @ w_k[head].T, x @ w_v[head].T  # TIED SWAPPED TRANSPOSED
        pairs = np.arange(a).reshape(-1, 2)  # PLANE
        angles = 10_000.0 ** (-2 * np.arange(a // 2) / a)
        q, k = rotate(q, pairs, angles), rotate(k, pairs, angles)
        scores = q @ k.T  # SCALED
        seen = np.tril(np.ones((tokens, tokens), dtype=bool))  # MASK
        weights = softmax(np.where(seen, scores, -np.inf), axis=1)  # AXIS
        total = total + weights @ v @ w_o[head].T
    return total


def forward(weights, x):
    layer = 1
    while f"{layer}.Q" in weights:
        x = x + attention(x, *(weights[f"{layer}.{name}"] for name in "QKVO"), layer)
        layer += 1
    return x


forward.tokens = "rows"
