// Shapes: element counts that cannot overflow, and the one place where shapes are compared.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace qkv {

using Shape = std::vector<std::size_t>;

/// Product of the axes, or nothing where it does not fit 63 bits (a file offset). () counts 1; an
/// axis of 0 counts 0.
std::optional<std::size_t> checked_count(const Shape& shape);

/// Product of the axes of a shape that is known to fit.
std::size_t element_count(const Shape& shape);

/// throws  Error "WHAT (WHERE): expected WANTED SET_BY, got SHAPE" unless `shape` is `wanted`
void require_shape(const Shape& shape, const Shape& wanted, const std::string& what,
                   const std::string& where, const std::string& set_by);

}  // namespace qkv
