"""Configurations of public checkpoints: the network they mean, its counts, its twin, and what is refused."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from neuromanifold.numerics.network import NetworkError, UnsupportedNetwork
from neuromanifold.numerics.notation import parse
from neuromanifold.oracle.checkpoint import ConfigError, checkpoint, network_from_config, read_checkpoint, twin
from neuromanifold.oracle.theorems import CONJECTURE

CONFIGS = Path(__file__).parents[1] / "data" / "configs"
FILES = {
    "gpt2.json": (
        "softmax d=768 l=12 a=64 dv=64 heads=12 t=1024 skip causal bias=qkvoud norm=layer ffn=3072:gelu", 85_054_464, 83_754_985,
    ),
    "llama-style.json": (
        "softmax d=64 l=4 a=8 dv=8 heads=8 kv=2 t=128 skip causal rope norm=rms ffn=160:swiglu", 164_352, 162_624,
    ),
    "mistral-style.json": (
        "softmax d=96 l=3 a=16 dv=16 heads=8 kv=4 t=512 skip causal window=64 rope norm=rms ffn=256:swiglu", 332_352, 327_744,
    ),
    "qwen2-style.json": (
        "softmax d=56 l=2 a=4 dv=4 heads=14 kv=2 t=256 skip causal rope bias=qkv norm=rms ffn=152:swiglu", 65_776, 65_168,
    ),
}  # fmt: skip


def config(name: str, **changes: Any) -> dict[str, Any]:
    return json.loads((CONFIGS / f"{name}.json").read_text()) | changes


@pytest.mark.parametrize("name", FILES)
def test_files(name: str) -> None:
    spec, parameters, dimension = FILES[name]
    found = read_checkpoint(CONFIGS / name)
    assert found.network == parse(spec)
    assert (found.parameters, found.dimension) == (parameters, dimension)
    assert found.formula is not None
    assert found.formula.theorem.status == CONJECTURE
    assert parameters - dimension == sum(count for _, count in found.redundancy)


def test_every_file_is_tested() -> None:
    assert {p.name for p in CONFIGS.glob("*.json")} == set(FILES)


@pytest.mark.parametrize("name", FILES)
def test_twin_has_the_structure_and_the_formula_is_exact_there(name: str, exact_rank: Callable[[str], int]) -> None:
    network = read_checkpoint(CONFIGS / name).network
    small = twin(network)
    for field in ("kind", "skip", "causal", "rope", "alibi", "bias", "norm"):
        assert getattr(small, field) == getattr(network, field)
    assert (small.window is None) == (network.window is None)
    for y, z in zip(small.layers, network.layers, strict=False):
        assert (y.kv > 1, y.per_group > 1, y.dv is None) == (z.kv > 1, z.per_group > 1, z.dv is None)
        assert y.ffn is not None and z.ffn is not None and y.ffn.activation == z.ffn.activation
    assert small.parameters < 300
    assert checkpoint(small).dimension == exact_rank(str(small))


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("llama-style", {"mlp_bias": True}, "mlp_bias"),
    ("llama-style", {"sliding_window": 16}, "sliding_window"),
    ("llama-style", {"hidden_act": "gelu"}, "hidden_act"),
    ("llama-style", {"rope_scaling": {"rope_type": "dynamic", "factor": 2.0}}, "rope_scaling"),
    ("llama-style", {"partial_rotary_factor": 0.5}, "partial_rotary_factor"),
    ("llama-style", {"model_type": "mixtral"}, "model_type"),
    ("llama-style", {"model_type": None}, "model_type"),
    ("llama-style", {"num_local_experts": 8}, "num_local_experts"),
    ("llama-style", {"attention_multiplier": 2.0}, "attention_multiplier"),
    ("llama-style", {"quantization_config": {"bits": 4}}, "quantization_config"),
    ("qwen2-style", {"attention_bias": True}, "attention_bias"),
    ("qwen2-style", {"use_sliding_window": True, "max_window_layers": 1}, "max_window_layers"),
    ("qwen2-style", {"layer_types": ["full_attention", "sliding_attention"]}, "layer_types"),
    ("qwen2-style", {"layer_types": ["sliding_attention"] * 2}, "use_sliding_window"),
    ("gpt2", {"activation_function": "gelu"}, "activation_function"),  # erf: not the notation's gelu
    ("gpt2", {"activation_function": "relu"}, "activation_function"),
    ("gpt2", {"add_cross_attention": True}, "add_cross_attention"),
    ("gpt2", {"hidden_size": 768}, "hidden_size"),
    ("gpt2", {"rotary_dim": 32}, "rotary_dim"),
]


@pytest.mark.parametrize(("name", "changes", "field"), REFUSED)
def test_what_matters_and_is_not_covered_is_refused(name: str, changes: dict[str, Any], field: str) -> None:
    with pytest.raises(UnsupportedNetwork) as caught:
        network_from_config(config(name, **changes))
    assert caught.value.field == field
    assert field in str(caught.value)


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("gpt2", {"n_head": 7}),
        ("gpt2", {"n_layer": 0}),
        ("gpt2", {"n_layer": True}),
        ("gpt2", {"n_embd": "768"}),
        ("gpt2", {"n_embd": None}),
        ("gpt2", {"n_positions": 10**9}),
        ("llama-style", {"num_key_value_heads": 3}),
        ("llama-style", {"head_dim": 7}),
        ("llama-style", {"attention_bias": "yes"}),
    ],
)
def test_sizes_that_do_not_fit_are_refused(name: str, changes: dict[str, Any]) -> None:
    with pytest.raises(NetworkError):
        network_from_config(config(name, **changes))


@pytest.mark.parametrize("text", ['{"model_type": "gpt2", "model_type": "llama"}', "[]", "{", "[" * 100_000, "\xff"])
def test_files_that_are_no_configuration(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(ConfigError):
        read_checkpoint(path)


def test_a_file_that_is_too_large(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(" " * (1 << 21))
    with pytest.raises(ConfigError, match="larger"):
        read_checkpoint(path)


def test_optional_keys() -> None:
    llama = network_from_config(config("llama-style"))
    assert network_from_config(config("llama-style", rope_scaling={"rope_type": "llama3", "factor": 8.0})) == llama
    assert network_from_config(config("llama-style", attention_bias=True)).bias == "qkvo"
    assert network_from_config(config("llama-style", num_key_value_heads=None)).kv == (8,) * 4
    assert network_from_config(config("llama-style", head_dim=16)).a == (16,) * 4
    assert network_from_config(config("mistral-style", sliding_window=None)).window is None
    qwen = {"use_sliding_window": True, "sliding_window": 128}
    assert network_from_config(config("qwen2-style", **qwen, max_window_layers=0)).window == 128
    assert network_from_config(config("qwen2-style", **qwen, max_window_layers=28)).window is None
    assert network_from_config(config("qwen2-style", **qwen, layer_types=["sliding_attention"] * 2)).window == 128
    assert network_from_config(config("gpt2", n_inner=512)).layers[0].ffn.hidden == 512  # type: ignore[union-attr]


def test_any_unknown_key_is_refused() -> None:
    g = random.Random(0)
    for _ in range(50):
        key = "".join(g.choice("abcdefgh_") for _ in range(12))
        with pytest.raises(UnsupportedNetwork):
            network_from_config(config("gpt2", **{key: 1}))


def test_no_number_library_is_loaded() -> None:
    code = (
        "import sys; from pathlib import Path; from neuromanifold.oracle.checkpoint import read_checkpoint;"
        f"print(read_checkpoint(Path({str(CONFIGS / 'gpt2.json')!r})).dimension);"
        "print({'numpy', 'jax', 'sympy', 'z3', 'hypothesis'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["83754985", "set()"]
