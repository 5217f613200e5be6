// .npy from bytes and from a stream: both readers agree, and what is read can be written and read
// again.
#include <algorithm>
#include <cstring>
#include <optional>

#include "io/npy.hpp"
#include "qkv/io/write.hpp"
#include "touch.hpp"

using namespace qkv;

namespace {

std::optional<Array> from_bytes(const Bytes& bytes) {
  try {
    return npy_read(bytes, "", "x");
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// Also tells how many bytes were taken.
std::optional<Array> from_stream(const Bytes& bytes, std::size_t& taken) {
  const Take take = [&](std::byte* into, std::size_t most) {
    const std::size_t count = std::min(most, bytes.size - taken);
    if (count > 0) std::memcpy(into, bytes.data + taken, count);
    taken += count;
    return count;
  };
  try {
    return npy_read_next(take, std::nullopt, "x");
  } catch (const Error&) {
    return std::nullopt;
  }
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes bytes = fuzz::bytes_of(data, size);
  const std::optional<Array> whole = from_bytes(bytes);
  std::size_t taken = 0;
  const std::optional<Array> next = from_stream(bytes, taken);
  // A file may hold nothing behind its array, a stream may.
  fuzz::require(whole.has_value() == (next.has_value() && taken == size));
  if (!whole) return 0;

  const std::vector<double> values = fuzz::touch(*whole);
  fuzz::require(next->shape == whole->shape && same_bits(fuzz::touch(*next), values));

  std::vector<std::byte> elements(values.size() * size_of(whole->dtype));
  copy_bytes(*whole, elements.data());
  std::string written = npy_header(whole->dtype, whole->shape);
  fuzz::require(written.size() % 64 == 0);
  written.append(reinterpret_cast<const char*>(elements.data()), elements.size());
  const auto* start = reinterpret_cast<const std::uint8_t*>(written.data());
  const std::optional<Array> again = from_bytes(fuzz::bytes_of(start, written.size()));
  fuzz::require(again && again->dtype == whole->dtype && again->shape == whole->shape);
  fuzz::require(same_bits(fuzz::touch(*again), values));
  return 0;
}
