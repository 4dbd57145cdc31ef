// The rank mod p by fflas-ffpack: a matrix of balanced residues, row after row, which stays as it is.
#include <cstddef>
#include <vector>

#include <fflas-ffpack/fflas-ffpack.h>

extern "C" std::size_t rank_mod(double p, std::size_t rows, std::size_t columns, const double *matrix) {
    const Givaro::ModularBalanced<double> field(p);
    std::vector<double> work(matrix, matrix + rows * columns);
    return FFPACK::Rank(field, rows, columns, work.data(), columns);
}
