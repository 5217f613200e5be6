// Arrays made in a test: from numbers written out, of any element type, and compared whole.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/attention/inputs.hpp"
#include "qkv/tensor/array.hpp"

namespace qkv::test {

/// A row-major array of those numbers, which must be exact in `dtype`; `where` is its name in
/// errors.
NamedArray array_of(const Shape& shape, const std::vector<double>& numbers,
                    DType dtype = DType::float64, const std::string& where = "array.npy");

/// The same elements laid out column by column.
Array in_fortran_order(const Array& array);

DType dtype_named(std::string_view name);

/// How `got` departs from |got - want| <= absolute + relative*|want|, "" where it does not. Equal
/// infinities are near; a NaN never is.
std::string departure(const Array& got, const Array& want, double absolute, double relative = 0);

}  // namespace qkv::test
