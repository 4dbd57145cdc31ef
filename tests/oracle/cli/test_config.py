"""`dimension --config`: a checkpoint's blocks and their small twin."""

import json
from pathlib import Path

import pytest
from neuromanifold.oracle import exits
from neuromanifold.oracle.__main__ import main

CONFIGS = Path(__file__).parents[2] / "data" / "configs"


@pytest.mark.parametrize(("name", "dimension"), [("gpt2", 83_754_985), ("llama-style", 162_624), ("mistral-style", 327_744), ("qwen2-style", 65_168)])
def test_blocks_by_formula_and_the_twin_proven(name, dimension, capsys):
    assert main(["dimension", "--config", str(CONFIGS / f"{name}.json"), "--timeout", "0", "--no-store", "--json"]) == exits.HOLDS
    found = json.loads(capsys.readouterr().out)
    assert (found["dimension"], found["label"]) == (dimension, "numerical")
    assert sum(size for _, size in found["redundancy"]) == found["parameters"] - dimension
    assert found["twin"]["label"] == "proven"


def test_the_text_has_both(capsys):
    main(["dimension", "--config", str(CONFIGS / "gpt2.json"), "--timeout", "0", "--no-store"])
    out = capsys.readouterr().out
    assert "589824 by query/key gauge" in out
    assert out.index("83754985") < out.index("The same structure") < out.index("norm=layer ffn=3:gelu")


def test_the_label_of_the_blocks_is_what_counts(capsys):
    config = ["dimension", "--config", str(CONFIGS / "gpt2.json"), "--timeout", "0", "--no-store"]
    assert main([*config, "--require", "formula"]) == exits.UNDECIDED


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "--config FILE, and not both"),
        (["softmax d=2,2 a=1 t=2", "--config", str(CONFIGS / "gpt2.json")], "--config FILE, and not both"),
        (["--config", "no-such-file.json"], "No such file"),
        (["--config", str(CONFIGS)], "directory"),
        (["--config", "/dev/null"], "is not JSON"),
    ],
)
def test_bad_input_is_one_line(arguments, said, capsys):
    assert main(["dimension", *arguments]) == exits.USAGE
    shown = capsys.readouterr()
    assert said in shown.err and shown.err.count("\n") == 1 and not shown.out


def test_a_key_that_matters_is_named(tmp_path, capsys):
    file = tmp_path / "config.json"
    file.write_text((CONFIGS / "llama-style.json").read_text().replace('"silu"', '"relu"'))
    assert main(["dimension", "--config", str(file)]) == exits.USAGE
    assert "hidden_act='relu' is not covered" in capsys.readouterr().err
