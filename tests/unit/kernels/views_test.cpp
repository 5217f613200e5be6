// Kernels on q, k and v as they lie in files: strided, half, and a part of the queries at a time.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "kernels/parts.hpp"
#include "qkv/attention/pipeline.hpp"
#include "qkv/kernels/kernel.hpp"
#include "qkv/tensor/half.hpp"
#include "unit/kernels/options.hpp"
#include "unit/kernels/twins.hpp"

namespace qkv::test {

namespace {

bool same_bytes(const Tensor<float, 4>& a, const Tensor<float, 4>& b) {
  return a.sizes() == b.sizes() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

/// The same values with the axes of heads and positions exchanged in memory.
Array heads_inside_of(const Tensor<float, 4>& x) {
  auto y = Tensor<float, 4>::make({x.size(0), x.size(2), x.size(1), x.size(3)});
  for (std::size_t b = 0; b < x.size(0); ++b) {
    for (std::size_t h = 0; h < x.size(1); ++h) {
      for (std::size_t l = 0; l < x.size(2); ++l)
        std::ranges::copy(x.row(b, h, l), y.row(b, l, h).begin());
    }
  }
  return transposed(as_array(y), {0, 2, 1, 3});
}

/// The values rounded to halves, and what those are as floats.
struct Halves {
  Array stored;
  Array widened;
};

Halves halves_of(const Tensor<float, 4>& x, DType dtype) {
  auto memory = allocate_bytes(x.size() * sizeof(std::uint16_t));
  auto* bits = reinterpret_cast<std::uint16_t*>(memory.get());
  auto widened = Tensor<float, 4>::make(x.sizes());
  for (std::size_t n = 0; n < x.size(); ++n) {
    const float value = x.elements()[n];
    bits[n] = dtype == DType::float16 ? float_to_float16(value) : float_to_bfloat16(value);
    widened.elements()[n] =
        dtype == DType::float16 ? float16_to_float(bits[n]) : bfloat16_to_float(bits[n]);
  }
  return {row_major_array(dtype, x.shape(), memory.get(), memory), as_array(widened)};
}

/// Parts as small as a kernel may be given: a batch row, a group of heads, and some positions of
/// one head where there are many.
std::vector<Part> small_parts(const Sizes& sizes) {
  const std::size_t group = sizes.H / sizes.G, L = sizes.L;
  std::vector<Part> parts;
  for (std::size_t b = 0; b < sizes.B; ++b) {
    for (std::size_t h = 0; h < sizes.H; h += L < 64 ? group : 1) {
      if (L < 64) {
        parts.push_back({b, b + 1, h, h + group, 0, L});
      } else {
        parts.push_back({b, b + 1, h, h + 1, 0, 33});
        parts.push_back({b, b + 1, h, h + 1, 33, L});
      }
    }
  }
  return parts;
}

/// Calls test(kernel, isa, problem, q k v as made) for every fast kernel that takes the problem.
template <class Test>
void for_each_twin(const TwinCase& twin, const Test& test) {
  const auto problem = make_problem<float>(twin.inputs, twin.settings);
  for (const Kernel& kernel : kernel_list()) {
    if (!kernel.by_isa || !kernel.supports(problem.sizes, problem.settings)) continue;
    for (const Isa isa : isa_list()) {
      INFO(engine_name(kernel, isa));
      test(kernel, isa, problem, prepare(problem));
    }
  }
}

}  // namespace

}  // namespace qkv::test

using namespace qkv;
using namespace qkv::test;

TEST_CASE("kernels: heads that lie side by side give the bytes that heads one by one give") {
  for (const Queries queries : both_kinds) {
    for_each_twin(with_options({twin_options()[0]}, queries), [](const Kernel& kernel, Isa isa,
                                                                 const Problem<float>& problem,
                                                                 const QueryKeyValue<float>& made) {
      HeadViews views;
      views.q = heads_inside_of(made.q);
      views.k = heads_inside_of(made.k);
      views.v = heads_inside_of(made.v);
      const auto got = kernel.run_float(problem, views, {.isa = isa});
      CHECK(same_bytes(got.heads, kernel.run_float(problem, made, {.isa = isa}).heads));
    });
  }
}

TEST_CASE(
    "kernels: halves are read as the floats that they are, NaN, infinities and the smallest too") {
  for (const DType dtype : {DType::float16, DType::bfloat16}) {
    for (const Queries queries : both_kinds) {
      for_each_twin(with_options({twin_options()[0]}, queries), [&](const Kernel& kernel, Isa isa,
                                                                    const Problem<float>& problem,
                                                                    QueryKeyValue<float> made) {
        made.v = made.v.clone();
        made.v(0, 0, 1, 0) = 0x1p-24F;  // the least float16
        made.v(0, 0, 1, 1) = HUGE_VALF;
        made.v(0, 0, 2, 2) = NAN;
        const Halves q = halves_of(made.q, dtype), k = halves_of(made.k, dtype),
                     v = halves_of(made.v, dtype);
        HeadViews stored, widened;
        stored.q = q.stored, stored.k = k.stored, stored.v = v.stored;
        widened.q = q.widened, widened.k = k.widened, widened.v = v.widened;
        const auto got = kernel.run_float(problem, stored, {.isa = isa});
        CHECK(same_bytes(got.heads, kernel.run_float(problem, widened, {.isa = isa}).heads));
      });
    }
  }
}

TEST_CASE("kernels: every float16 is widened to the float that it is") {
  // attn of one key is 1, so that heads are v itself.
  constexpr std::size_t count = 1 << 16;
  TwinCase twin;
  twin.Dv = count;
  twin = twin_case(twin);
  for_each_twin(twin, [&](const Kernel& kernel, Isa isa, const Problem<float>& problem,
                          const QueryKeyValue<float>& made) {
    auto memory = allocate_bytes(count * sizeof(std::uint16_t));
    auto* bits = reinterpret_cast<std::uint16_t*>(memory.get());
    for (std::size_t n = 0; n < count; ++n) bits[n] = static_cast<std::uint16_t>(n);
    HeadViews views = made;
    views.v = row_major_array(DType::float16, {1, 1, 1, count}, memory.get(), memory);
    const auto got = kernel.run_float(problem, views, {.isa = isa});
    std::size_t wrong = 0;
    for (std::size_t n = 0; n < count; ++n) {
      const float expected = float16_to_float(static_cast<std::uint16_t>(n));
      const float value = got.heads.elements()[n];
      if (!(value == expected || (std::isnan(value) && std::isnan(expected)))) ++wrong;
    }
    CHECK(wrong == 0);
  });
}

TEST_CASE("run: out in parts is out at once, whatever the options") {
  for (const Queries queries : both_kinds) {
    for (const TwinOption& option : twin_options()) {
      INFO(option.name);
      const TwinCase twin = with_options({option}, queries);
      const auto problem = make_problem<float>(twin.inputs, twin.settings);
      for (const Kernel& kernel : kernel_list()) {
        if (!kernel.supports(problem.sizes, problem.settings)) continue;
        INFO(kernel.name);
        const auto made = prepare(problem);
        const auto whole_run = kernel.run_float(problem, made, {.wants_lse = true});
        const Sizes& sizes = problem.sizes;
        for (const bool inside : {false, true}) {
          for (const Part& part : small_parts(sizes)) {
            const auto got = kernel.run_float(
                problem, made, {.wants_lse = true, .heads_inside = inside, .part = part});
            for (std::size_t b = part.b; b < part.b_end; ++b) {
              for (std::size_t h = part.h; h < part.h_end; ++h) {
                for (std::size_t l = part.l; l < part.l_end; ++l) {
                  const std::size_t pb = b - part.b, ph = h - part.h, pl = l - part.l;
                  const auto row = inside ? got.heads.row(pb, pl, ph) : got.heads.row(pb, ph, pl);
                  CHECK(std::ranges::equal(row, whole_run.heads.row(b, h, l), [](float x, float y) {
                    return std::abs(x - y) <= 1e-5F * (1 + std::abs(y)) ||
                           (std::isnan(x) && std::isnan(y)) || x == y;
                  }));
                }
              }
            }
          }
        }
      }
    }
  }
}

TEST_CASE("parts: together they are all queries once, in the order of out") {
  for (const std::size_t L : {1UL, 7UL, 300UL, 5000UL}) {
    for (const bool inside : {false, true}) {
      Sizes sizes;
      sizes.B = 3;
      sizes.H = 6;
      sizes.G = 2;
      sizes.L = L;
      std::size_t next = 0;
      for (const Part& part : parts_of(sizes, inside, 256, 1 << 20)) {
        const std::size_t first = inside ? (part.b * L + part.l) * sizes.H + part.h
                                         : (part.b * sizes.H + part.h) * L + part.l;
        CHECK(first == next);
        next += (part.b_end - part.b) * (part.h_end - part.h) * (part.l_end - part.l);
      }
      CHECK(next == sizes.B * sizes.H * L);
    }
  }
}
