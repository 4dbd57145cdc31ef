"""The configuration of a public transformer checkpoint (config.json of GPT-2, Llama, Mistral, Qwen2) as a `Network` of its blocks.

Embeddings, learned positions, the final norm and the output head are outside the blocks. A key that changes the function and
that this notation cannot express is refused by name, and so is a key that is not known here: nothing is guessed.
Rotary angles and the epsilon of norms are taken as generic, whatever base, scaling or value the file gives.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..numerics.network import Ffn, Network, NetworkError, UnsupportedNetwork
from .theorems import Applied, applicable

MAX_BYTES = 1 << 20

# Keys that change no function of the blocks, or only constants that are taken as generic.
IRRELEVANT = frozenset({
    "_attn_implementation", "_name_or_path", "architectures", "attention_dropout", "attn_pdrop",
    "bos_token_id", "chunk_size_feed_forward", "dtype", "embd_pdrop", "eos_token_id", "finetuning_task",
    "hidden_dropout", "id2label", "initializer_range", "label2id", "layer_norm_epsilon", "is_decoder", "max_length",
    "model_type", "n_ctx", "output_attentions", "output_hidden_states", "pad_token_id", "pretraining_tp",
    "reorder_and_upcast_attn", "resid_pdrop", "return_dict", "rms_norm_eps", "rope_theta",
    "scale_attn_by_inverse_layer_idx", "scale_attn_weights", "summary_activation", "summary_first_dropout",
    "summary_proj_to_labels", "summary_type", "summary_use_proj", "task_specific_params", "tie_word_embeddings",
    "torch_dtype", "transformers_version", "use_cache", "vocab_size",
})  # fmt: skip
# Keys that matter, with the values under which the notation describes the network all the same.
HARMLESS: dict[str, tuple[Any, ...]] = {
    "add_cross_attention": (False,),
    "is_encoder_decoder": (False,),
    "mlp_bias": (False,),  # Llama's would bias the gate too
    "num_local_experts": (None, 1),
    "partial_rotary_factor": (1, 1.0),
    "pruned_heads": (None, {}),
    "quantization_config": (None,),
    "use_qk_norm": (False,),
}
SCALINGS = ("default", "linear", "llama3")  # rope_scaling types that change fixed angles only
LLAMA_KEYS = frozenset({
    "head_dim", "hidden_act", "hidden_size", "intermediate_size", "max_position_embeddings", "num_attention_heads",
    "num_hidden_layers", "num_key_value_heads", "rope_scaling",
})  # fmt: skip
WINDOW_KEYS = frozenset({"sliding_window", "layer_types"})
GPT2_KEYS = frozenset({
    "activation_function", "n_embd", "n_head", "n_inner", "n_layer", "n_positions",
})  # fmt: skip


class ConfigError(NetworkError):
    """The file is not a configuration that can be read, or lacks a key."""


@dataclass(frozen=True)
class Checkpoint:
    """The blocks of a checkpoint: `parameters` of the blocks, the formula's answer if a theorem applies, and a small twin."""

    network: Network
    formula: Applied | None
    twin: Network

    @property
    def parameters(self) -> int:
        """The number of parameters of the blocks."""
        return self.network.parameters

    @property
    def dimension(self) -> int | None:
        """The formula's value; `formula.theorem.status` says how far it is known."""
        return self.formula.value if self.formula else None

    @property
    def redundancy(self) -> tuple[tuple[str, int], ...]:
        """Parameters - dimension, split by symmetry; empty without a formula."""
        return self.formula.redundancy if self.formula else ()


def read_checkpoint(path: Path) -> Checkpoint:
    """The checkpoint of a config.json. Raises `ConfigError` or `UnsupportedNetwork` with the key at fault."""
    if path.stat().st_size > MAX_BYTES:
        raise ConfigError(f"{path.name} is larger than {MAX_BYTES} bytes: not a configuration")
    try:
        config = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=_without_duplicates)
    except (UnicodeDecodeError, RecursionError, json.JSONDecodeError) as error:
        raise ConfigError(f"{path.name} is not JSON: {error}") from error
    return checkpoint(network_from_config(config))


def checkpoint(network: Network) -> Checkpoint:
    """The formula and the structural twin of a network."""
    found = applicable(network)
    return Checkpoint(network, found[0] if found else None, twin(network))


def network_from_config(config: Mapping[str, Any]) -> Network:
    """The network of the blocks. Raises `ConfigError` (missing or malformed) or `UnsupportedNetwork` (`field` names the key)."""
    if not isinstance(config, Mapping):
        raise ConfigError("a configuration is a JSON object")
    model = config.get("model_type")
    if model not in FAMILIES:
        known = ", ".join(FAMILIES)
        raise UnsupportedNetwork("model_type", f"model_type {model!r} is not one whose blocks are known here: {known}")
    keys, build = FAMILIES[model]
    for key, value in config.items():
        if key in HARMLESS and not any(value == v and type(value) is type(v) for v in HARMLESS[key]):
            raise UnsupportedNetwork(
                key, f"{key}={value!r} is outside the notation (only {HARMLESS[key][0]!r} is covered)"
            )
        if key not in keys | IRRELEVANT | HARMLESS.keys():
            raise UnsupportedNetwork(
                str(key)[:40], f"key {str(key)[:40]!r} is not known for {model}: it may change the network"
            )
    return build(config)


def twin(network: Network, layers: int = 1) -> Network:
    """The same structure at sizes small enough to prove: which heads share keys, what is biased, masked, rotated, normed.

    Head counts above one become two (as for the heads of a group), head widths two, the width four, hidden units three.
    """
    l = min(layers, network.l)
    kv = tuple(min(2, y.kv) for y in network.layers[:l])
    heads = tuple(g * min(2, y.per_group) for g, y in zip(kv, network.layers, strict=False))
    return replace(
        network, d=(4,) * (l + 1), a=tuple(min(2, a) for a in network.a[:l]), heads=heads, kv=kv,
        dv=tuple(min(2, v) for v in network.dv[:l]) if network.dv else None,
        ffn=tuple(Ffn(min(3, f.hidden), f.activation) for f in network.ffn[:l]) if network.ffn else None,
        t=min(network.t, 3 if network.window is None else 4),
        window=None if network.window is None else min(3, network.window),
    )  # fmt: skip


def _gpt2(config: Mapping[str, Any]) -> Network:
    d, l, heads = (_size(config, k) for k in ("n_embd", "n_layer", "n_head"))
    a = _head_width(d, heads)
    hidden = 4 * d if config.get("n_inner") is None else _size(config, "n_inner")
    activations = {"gelu_new": "gelu", "gelu_pytorch_tanh": "gelu", "silu": "silu", "swish": "silu"}
    return Network(
        kind="softmax", d=(d,) * (l + 1), a=(a,) * l, t=_size(config, "n_positions"), heads=(heads,) * l, kv=(heads,) * l,
        dv=(a,) * l, skip=True, causal=True, bias="qkvoud", norm="layer",
        ffn=(Ffn(hidden, _choice(config, "activation_function", activations)),) * l,
    )  # fmt: skip


def _llama(config: Mapping[str, Any], bias: str = "") -> Network:
    d, l, heads = (_size(config, k) for k in ("hidden_size", "num_hidden_layers", "num_attention_heads"))
    kv = heads if config.get("num_key_value_heads") is None else _size(config, "num_key_value_heads")
    a = _head_width(d, heads) if config.get("head_dim") is None else _size(config, "head_dim")
    if _flag(config, "attention_bias"):
        bias = "qkvo"
    scaling = config.get("rope_scaling")
    kind = scaling.get("rope_type", scaling.get("type")) if isinstance(scaling, Mapping) else scaling
    if scaling is not None and kind not in SCALINGS:
        raise UnsupportedNetwork(
            "rope_scaling", f"rope_scaling of type {kind!r} is not covered: {', '.join(SCALINGS)} or null"
        )
    hidden = Ffn(
        _size(config, "intermediate_size"), _choice(config, "hidden_act", {"silu": "swiglu", "swish": "swiglu"})
    )
    return Network(
        kind="softmax", d=(d,) * (l + 1), a=(a,) * l, t=_size(config, "max_position_embeddings"), heads=(heads,) * l,
        kv=(kv,) * l, dv=(a,) * l, skip=True, causal=True, window=_window(config, l), rope=True, bias=bias, norm="rms",
        ffn=(hidden,) * l,
    )  # fmt: skip


def _qwen2(config: Mapping[str, Any]) -> Network:
    """As Llama, with biases of q, k, v; the window has a switch and starts at layer `max_window_layers`."""
    found = _llama(config, bias="qkv")
    if found.window is None:
        return found
    on, listed = _flag(config, "use_sliding_window"), config.get("layer_types") is not None
    if listed and not on:
        raise UnsupportedNetwork("use_sliding_window", "layer_types has windows, use_sliding_window switches them off")
    first = 0 if listed else config.get("max_window_layers")
    if not on or (type(first) is int and first >= found.l):
        return replace(found, window=None)
    if first != 0 or type(first) is not int:
        raise UnsupportedNetwork(
            "max_window_layers", f"max_window_layers={first!r}: a window in some layers only is not covered"
        )
    return found


def _window(config: Mapping[str, Any], l: int) -> int | None:
    """The sliding window, where all layers share it."""
    kinds = config.get("layer_types")
    if kinds not in (None, ["full_attention"] * l, ["sliding_attention"] * l):
        raise UnsupportedNetwork(
            "layer_types", "layer_types that differ, or other than full_attention and sliding_attention"
        )
    if config.get("sliding_window") is None or kinds == ["full_attention"] * l:
        return None
    return _size(config, "sliding_window")


FAMILIES: dict[str, tuple[frozenset[str], Callable[[Mapping[str, Any]], Network]]] = {
    "gpt2": (GPT2_KEYS, _gpt2),
    "llama": (LLAMA_KEYS | {"attention_bias"}, _llama),
    "mistral": (LLAMA_KEYS | WINDOW_KEYS, _llama),
    "qwen2": (LLAMA_KEYS | WINDOW_KEYS | {"use_sliding_window", "max_window_layers"}, _qwen2),
}


def _size(config: Mapping[str, Any], key: str) -> int:
    value = config.get(key)
    if type(value) is not int or value < 1:
        raise ConfigError(f"{key} is missing" if value is None else f"{key}={str(value)[:40]} is not a size")
    return value


def _flag(config: Mapping[str, Any], key: str) -> bool:
    value = config.get(key, False)
    if type(value) is not bool:
        raise ConfigError(f"{key}={str(value)[:40]} is neither true nor false")
    return value


def _choice(config: Mapping[str, Any], key: str, known: Mapping[str, str]) -> str:
    value = config.get(key)
    if not isinstance(value, str) or value not in known:
        raise UnsupportedNetwork(key, f"{key}={str(value)[:40]!r} is not covered: {', '.join(known)}")
    return known[value]


def _head_width(d: int, heads: int) -> int:
    if d % heads:
        raise ConfigError(f"width {d} is not a multiple of {heads} heads")
    return d // heads


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ConfigError("a key occurs twice in the configuration")
    return found
