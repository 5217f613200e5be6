// Arithmetic: what the numbers that a computation holds are rounded to.
#pragma once

#include <span>

#include "qkv/tensor/array.hpp"
#include "qkv/tensor/dtype.hpp"
#include "qkv/tensor/tensor.hpp"

namespace qkv {

/// native: the element type's own numbers, sums in the order that is fastest on this CPU.
/// float16, bfloat16: as an implementation in that type computes. Every number that is held is one
/// of that type, in elements of float; what goes on inside a step (sums, exponentials) is float or
/// better and rounded once at its end, and no CPU computes another bit.
enum class Arithmetic { native, float16, bfloat16 };

/// The type of the numbers that are held, `native` where nothing is rounded.
DType dtype_of(Arithmetic arithmetic, DType native);

/// The greatest finite number of float16 or bfloat16: 65504 or 3.3895e38; that of float for native.
double largest_finite(Arithmetic arithmetic);

/// Rounds every element to the nearest number of the type, ties to even. An element that is one
/// already is not written to, so that inputs which are shared stay untouched.
///
/// edge    beyond the largest finite number, from half a step on, it becomes an infinity; any NaN
///         becomes the same one
void round_elements(Arithmetic arithmetic, std::span<float> elements);
void round_elements(Arithmetic arithmetic, std::span<double> elements);

/// The same for one number.
double rounded(Arithmetic arithmetic, double value);

/// The tensor's rounded elements as two bytes each; shared as they are for native.
template <class T, std::size_t Rank>
Array as_array(const Tensor<T, Rank>& tensor, Arithmetic arithmetic);

}  // namespace qkv
