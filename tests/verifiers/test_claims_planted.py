"""Wrong claims, planted: each is refuted with a counterexample, and no route of it proves anything."""

import pytest
from neuromanifold.verifiers.claims import finite, motions, plain
from neuromanifold.verifiers.claims.entries import Shape
from neuromanifold.verifiers.claims.lemmas import Lemma, by_z3, models, satisfied, variables
from neuromanifold.verifiers.claims.letters import DIFFER, LIGHT, MIXED, NORMED, letters
from neuromanifold.verifiers.claims.model import Check, Claim, run_claim
from neuromanifold.verifiers.claims.motions import Motion, minus, times, under
from neuromanifold.verifiers.claims.residuals import Entries, bound, by_rationals, by_sympy, by_z3_reals, table
from neuromanifold.verifiers.claims.words import Words, by_free_algebra
from neuromanifold.verifiers.freealgebra import Letter

E = Letter("e", "a", "a")


def sign_flipped(source, shape, tables):
    moved = motions.gauge(source, shape, tables).tables
    return Motion({name: minus(values) if name[0] == "K" else values for name, values in moved.items()})


def not_transposed(source, shape, tables):
    e = table(source, "e", shape.a, shape.a)
    return Motion({"Q0": times(e, tables["Q0"]), "K0": minus(times(e, tables["K0"]))})


def bias_forgotten(source, shape, tables):
    moved = motions.gauge(source, shape, tables).tables
    return Motion({name: values for name, values in moved.items() if name != "bq0"})


def one_head_only(source, shape, tables):
    u = table(source, "u", shape.n, 1)
    return Motion({"bv0": u, "bo": minus(u)})


def gain_of_queries_only(source, shape, tables):
    moved = motions.gain(source, shape, tables).tables
    return Motion({name: values for name, values in moved.items() if name[0] != "V"})


def mixed_across_groups(source, shape, tables):
    return Motion({"O0": tables["O1"], "Q1": minus(tables["Q0"])})


def doubled(source, shape):
    first, second = finite.rescaling(source, shape)
    c = source.new("c")
    return first, second | {"V0": [[c * entry for entry in row] for row in second["V0"]]}


def on(move, shape):
    return Entries(bound(under, move), (shape,))


LIGHTNING, SOFTMAX = Shape("lightning", a=2), Shape("softmax", a=2)

# name: entries, and the same mistake in words (None where words have no say)
WRONG = {
    "gauge, sign flipped": (
        on(sign_flipped, LIGHTNING),
        Words(letters(E), motion={"Q": "e Q", "K": "e' K"}, still=(LIGHT,), optional=("bq", "bk", "bv", "O")),
    ),
    "gauge, not transposed": (
        on(not_transposed, SOFTMAX),
        Words(letters(E), motion={"Q": "e Q", "K": "- e K"}, still=(DIFFER,), optional=("bq", "bk")),
    ),
    "gauge, a bias forgotten": (
        on(bias_forgotten, Shape("lightning", a=2, bias="qk")),
        Words(letters(E), motion={"Q": "e Q", "K": "- e' K", "bk": "- e' bk"}, still=(LIGHT,)),
    ),
    "gauge under rope, type dropped": (
        on(motions.full_gauge, Shape("softmax", a=2, rope=True)),
        Words(
            letters(E, Letter("k", "a", "1"), Letter("w", "a", "1")),
            motion={"k": "- e' k", "w": "e w"},
            still=("(R k)' (T w)",),
        ),
    ),
    "rescaling of softmax": (
        on(motions.scaling, SOFTMAX),
        Words(letters(), motion={"K": "- K"}, still=(DIFFER,), optional=("bq", "bk")),
    ),
    "rescaling by c and 1/c^2": (Entries(bound(finite.same, doubled), (LIGHTNING,)), None),
    "value bias, heads miscounted": (
        on(one_head_only, Shape("softmax", heads=2, kv=1, bias="vo")),
        Words(
            letters(Letter("P", "n", "v"), Letter("u", "v", "1")),
            motion={"bv": "u", "bo": "- O u"},
            still=("(O (V X + bv o')) p + (P (V X + bv o')) q + bo",),
            relations=(*NORMED, ("o' q", "1")),
        ),
    ),
    "value bias where weights do not sum to one": (
        on(one_head_only, Shape("lightning", bias="vo")),
        Words(letters(Letter("u", "v", "1")), motion={"bv": "u", "bo": "- O u"}, still=(MIXED,)),
    ),
    "key bias of lightning": (
        on(motions.key_bias, Shape("lightning", bias="k")),
        Words(letters(Letter("u", "a", "1")), motion={"bk": "u"}, still=(LIGHT,)),
    ),
    "heads of different groups mix": (on(mixed_across_groups, Shape("lightning", dv=1, heads=2, kv=2)), None),
    "basis change without the skip's share": (
        on(motions.produce_basis, Shape("lightning", skip=True)),
        Words(
            (*letters(), Letter("e", "n", "n"), Letter("c", "n", "1")),
            motion={"O": "e O"},
            moves=(("c + O (V x)", "e (c + O (V x))"),),
        ),
    ),
    "gain, not all readers": (on(gain_of_queries_only, Shape("lightning", norm="rms")), None),
    "unit scaling, wrong power": (
        Entries(bound(plain.unit_scaling, 3, 2), (Shape("lightning", a=2, t=1),)),
        Words(
            (Letter("D", "n", "1"), Letter("p", "1", "1"), Letter("r", "1", "1")),
            motion={"D": "- D", "p": "r p"},
            still=("D p",),
        ),
    ),
    "unit basis for a square": (Entries(bound(plain.unit_basis, 2), (Shape("lightning", a=2, t=1),)), None),
    "antisymmetric part with two tokens": (
        on(motions.symmetric_key, LIGHTNING),
        Words(
            letters(Letter("b", "a", "a", symmetry=-1)),
            motion={"K": "b Q", "bk": "b bq"},
            still=(LIGHT,),
        ),
    ),
    "null direction of the keys, bias not null": (
        on(
            lambda s, h, t: motions.key_null(s, h, {k: v for k, v in t.items() if k != "bk0"}),
            Shape("lightning", a=2, bias="k"),
        ),
        None,
    ),
    "a gain that is not diagonal": (
        on(lambda s, h, t: Motion({"g": times(table(s, "e", h.d, h.d), t["g"])}), Shape("lightning", norm="rms")),
        Words(
            (Letter("G", "d", "d", diagonal=True), Letter("e", "d", "d"), Letter("W", "m", "d"), Letter("x", "d", "1")),
            motion={"G": "e G", "W": "- W e"},
            still=("W (G x)",),
        ),
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_planted_field_is_refuted(name):
    entries, words = WRONG[name]
    checks = [Check("sympy", by_sympy, entries), Check("z3 reals", by_z3_reals, entries)]
    if words is not None:
        checks.append(Check("free algebra", by_free_algebra, words))
    outcome = run_claim(Claim("planted", name, name, "one size", "test", tuple(checks)), 60)
    assert outcome.status == "refuted", [(r.route, r.verdict, r.detail) for r in outcome.routes]
    assert outcome.counterexample["values"]
    assert all(route.verdict != "proved" for route in outcome.routes)


EQUAL = "v.i a.j + v.j a.i - w.i b.j - w.j b.i"
WRONG_LEMMAS = {
    "pair: w is parallel to v": Lemma((EQUAL,), ("w.p v.q - w.q v.p", "v.p", "a.q"), ("p", "q")),
    "straight without w parallel to v": Lemma((EQUAL,), ("v.p a.q - w.p b.q",), ("p", "q")),
    "domain with one factor": Lemma(("v.i a.j + v.j a.i",), ("v.p",), ("p",)),
    "domain, a sign flipped": Lemma(("v.i a.j - v.j a.i",), ("v.p", "a.q"), ("p", "q")),
    "parallel rows without a column": Lemma(
        ("v.i a.j - b.i w.j", "x.i a.j - b.i y.j"), ("v.p x.q - v.q x.p",), ("p", "q")
    ),
    "both without a column": Lemma(
        ("v.i c.j - w.i d.j", "v.i c.j - d.i w.j", "v.i a.j - b.i w.j"), ("v.p a.q - w.p b.q",), ("p", "q")
    ),
    "tensor without a column": Lemma(("v.i a.j - w.i b.j",), ("v.p w.q - v.q w.p",), ("p", "q")),
}


@pytest.mark.parametrize("name", WRONG_LEMMAS)
def test_planted_lemma_is_refuted_by_a_checked_model(name):
    lemma = WRONG_LEMMAS[name]
    outcome = run_claim(Claim("planted", name, name, "all", "test", (Check("z3 small model", by_z3, (lemma,)),)), 60)
    assert outcome.status == "refuted", outcome.routes[0].detail


def test_an_expected_failure_needs_a_real_difference():
    # The search for counterexamples finds none where there is none.
    entries = Entries(bound(under, motions.gauge), (LIGHTNING, SOFTMAX))
    from neuromanifold.verifiers.claims.model import Deadline

    assert by_rationals(entries, Deadline(1e18), tries=5).status == "unknown"


def test_a_model_is_checked_exactly():
    model = next(models(WRONG_LEMMAS["domain with one factor"]))
    from fractions import Fraction

    zero = dict.fromkeys(variables(model), Fraction(0))
    assert not satisfied(model, zero)
