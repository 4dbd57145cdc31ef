-- The numerical dimension of lightning attention: M2 --script lightning.m2 {d_0,...,d_l} {a_1,...,a_l} t. Without arguments the package is loaded only.
-- The map: theta -> the coefficients of the polynomial X -> f_theta(X).
needsPackage "NumericalImplicitization"
if #scriptCommandLine == 1 then exit 0
(d, a, t) = toSequence apply(drop(scriptCommandLine, 1), value)

shapes = apply(#a, i -> {(a#i, d#i), (a#i, d#i), (d#(i + 1), d#i)}) -- Q, K, V of each layer
R = QQ[p_1 .. p_(sum(flatten shapes, (rows, columns) -> rows * columns))]
S = R[x_1 .. x_(d#0 * t)]
used = 0
parameter = (rows, columns) -> (
    first := used + 1;
    used = used + rows * columns;
    promote(genericMatrix(R, p_first, rows, columns), S))

f = genericMatrix(S, x_1, d#0, t)
scan(shapes, layer -> (
    (Q, K, V) := toSequence apply(layer, parameter);
    f = V * f * transpose(K * f) * (Q * f)))
coefficientsOfF = unique flatten apply(flatten entries f, entry -> apply(listForm entry, last))
C = CC[gens R]
print numericalImageDim(sub(matrix {coefficientsOfF}, C), ideal 0_C)
