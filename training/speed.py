"""Tokens a second of training the encoder on this machine: ``python -m training.speed jax`` or ``torch``.

Both run the same six layers on batches of 24 x 80 tokens: JAX with optax in float32 and bfloat16,
PyTorch in float32 and with bfloat16 autocast. What decides by which of them ``fit.py`` trains.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np

WIDTH, LAYERS, HEADS, BATCH, LENGTH, STEPS = 384, 6, 12, 24, 80, 12


def rate(step: Callable[[], None]) -> float:
    """Tokens a second, two steps for warming up."""
    for _ in range(2):
        step()
    begun = time.perf_counter()
    for _ in range(STEPS):
        step()
    return STEPS * BATCH * LENGTH / (time.perf_counter() - begun)


def by_torch() -> None:
    """Print PyTorch's."""
    import torch

    from training.fit import Dropout, Layer

    torch.set_num_threads(2)
    for kind in (torch.float32, torch.bfloat16):
        layers = torch.nn.ModuleList(Layer(Dropout(0.0)) for _ in range(LAYERS))
        optimizer = torch.optim.AdamW(layers.parameters(), lr=1e-4, fused=True)
        x, mask = torch.randn(BATCH, LENGTH, WIDTH), torch.zeros(BATCH, 1, 1, LENGTH)

        def step(
            kind: torch.dtype = kind,
            layers: torch.nn.ModuleList = layers,
            optimizer: torch.optim.Optimizer = optimizer,
            x: torch.Tensor = x,
            mask: torch.Tensor = mask,
        ) -> None:
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=kind is torch.bfloat16):
                out = x
                for layer in layers:
                    out = layer(out, mask)
            optimizer.zero_grad()
            out.float().pow(2).mean().backward()
            optimizer.step()

        print(f"torch {kind}: {rate(step):,.0f} tokens/s")


def by_jax() -> None:
    """Print JAX's."""
    import jax
    import jax.numpy as jnp
    import optax

    def linear(rows: int, columns: int) -> dict[str, jax.Array]:
        return {
            "w": jnp.asarray(np.random.default_rng(0).normal(0, 0.02, (rows, columns)), jnp.float32),
            "b": jnp.zeros(columns),
        }

    sizes = {
        "qkv": (WIDTH, 3 * WIDTH),
        "out": (WIDTH, WIDTH),
        "up": (WIDTH, 4 * WIDTH),
        "down": (4 * WIDTH, WIDTH),
    }
    layers = [{name: linear(*size) for name, size in sizes.items()} for _ in range(LAYERS)]

    def normed(x: jax.Array) -> jax.Array:
        x = x.astype(jnp.float32)
        return (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-12)

    for kind in (jnp.float32, jnp.bfloat16):

        def applied(w: dict[str, jax.Array], x: jax.Array, kind: type = kind) -> jax.Array:
            return x.astype(kind) @ w["w"].astype(kind) + w["b"].astype(kind)

        def loss(layers: list[dict[str, dict[str, jax.Array]]], x: jax.Array, kind: type = kind) -> jax.Array:
            for layer in layers:
                q, k, v = jnp.moveaxis(applied(layer["qkv"], x).reshape(BATCH, LENGTH, 3, HEADS, -1), 2, 0)
                weights = jax.nn.softmax(
                    jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(jnp.float32) / np.sqrt(32), -1
                )
                seen = jnp.einsum("bhqk,bkhd->bqhd", weights.astype(kind), v).reshape(BATCH, LENGTH, WIDTH)
                x = normed(x + applied(layer["out"], seen))
                x = normed(
                    x + applied(layer["down"], jax.nn.gelu(applied(layer["up"], x), approximate=False))
                )
            return (x**2).mean()

        optimizer = optax.adamw(1e-4)

        @jax.jit
        def updated(layers, state, x, optimizer=optimizer, loss=loss):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
            updates, state = optimizer.update(jax.grad(loss)(layers, x), state, layers)
            return optax.apply_updates(layers, updates), state

        held = [layers, optimizer.init(layers)]
        x = jnp.asarray(np.random.default_rng(1).normal(size=(BATCH, LENGTH, WIDTH)), jnp.float32)

        def step(held: list = held, updated: Callable = updated, x: jax.Array = x) -> None:  # type: ignore[type-arg]
            held[:] = updated(*held, x)
            jax.block_until_ready(held[0])

        print(f"jax {kind.__name__}: {rate(step):,.0f} tokens/s")


if __name__ == "__main__":
    by_jax() if sys.argv[1:] == ["jax"] else by_torch()
