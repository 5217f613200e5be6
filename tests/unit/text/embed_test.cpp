// Embed: tables, positions and the padded batch.
#include "qkv/text/embed.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "qkv/text/positions.hpp"
#include "support/arrays.hpp"
#include "unit/text/golden_text.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

std::size_t size_in(const Json& golden, const char* key) {
  return static_cast<std::size_t>(golden.find(key)->number());
}

Ids golden_ids() {
  Ids ids;
  for (const Json& row : golden_text("embedded").find("ids")->items()) ids.push_back(counts(row));
  return ids;
}

NamedArray golden_table(const char* key, std::size_t rows) {
  return array_of({rows, 5}, numbers(*golden_text("embedded").find(key)));
}

template <class T>
std::string departure_of_embedded(const Json& golden, double relative) {
  const std::string& name = golden.find("positions")->text();
  Tensor<double, 2> positions;
  if (name == "sinusoidal") positions = sinusoidal_positions(6, 5);
  if (name == "learned") positions = as_rank<double, 2>(golden_table("learned", 9).array);
  const auto x = embed<T>(golden_ids(), as_rank<T, 2>(golden_table("table", 7).array), positions);
  const Array want = array_of({3, 6, 5}, numbers(*golden.find("values"))).array;
  return departure(as_array(x), want, relative, relative);
}

}  // namespace

TEST_CASE("random_table: the numbers that SplitMix64 and the polar method give in Python") {
  for (const Json& golden : golden_text("tables").items()) {
    const std::size_t V = size_in(golden, "V"), E = size_in(golden, "E");
    // 2^63-1 is no float64: JSON would round it.
    const std::uint64_t seed = V == 1 ? 0x7fffffffffffffffu : size_in(golden, "seed");
    const auto table = random_table(V, E, seed);
    const std::vector<double> want = numbers(*golden.find("values"));
    REQUIRE(table.size() == want.size());
    for (std::size_t n = 0; n < want.size(); ++n)
      CHECK(static_cast<double>(table.data()[n]) == want[n]);
  }
}

TEST_CASE("sinusoidal_positions: the formula of Vaswani et al., also for an odd width") {
  for (const Json& golden : golden_text("positions").items()) {
    const std::size_t L = size_in(golden, "L"), E = size_in(golden, "E");
    const Array want = array_of({L, E}, numbers(*golden.find("values"))).array;
    // An angle of 50 that is off by 2^-52 of itself moves its sine by 1e-14.
    CHECK(departure(as_array(sinusoidal_positions(L, E)), want, 1.2e-14) == "");
  }
}

TEST_CASE("embed: a padded batch as PyTorch makes it, zeros behind the end") {
  for (const Json& golden : golden_text("embedded").find("cases")->items()) {
    // The sum is rounded once in each type; the table itself is rounded to float32 before.
    CHECK(departure_of_embedded<double>(golden, 1e-14) == "");
    CHECK(departure_of_embedded<float>(golden, 2.4e-7) == "");
  }
}

TEST_CASE("key_padding, padded_ids: true and an id where a token is real, else false and -1") {
  const Array padding = key_padding({{2, 0}, {5, 6, 1}});
  CHECK(padding.dtype == DType::boolean);
  CHECK(departure(padding, array_of({2, 3}, {1, 1, 0, 1, 1, 1}).array, 0) == "");
  const Array ids = padded_ids({{2, 0}, {5, 6, 1}});
  CHECK(ids.dtype == DType::int64);
  CHECK(departure(ids, array_of({2, 3}, {2, 0, -1, 5, 6, 1}).array, 0) == "");
}

TEST_CASE("require_rows: an id beyond the table names its token") {
  const std::vector<Sentence> sentences = {{"a"}, {"a", "dessert"}};
  CHECK(told([&] { require_rows({{0}, {0, 4}}, sentences, 5, "t.npy"); }).empty());
  CHECK(told([&] {
          require_rows({{0}, {0, 5}}, sentences, 5, "t.npy");
        }) ==
        "an id beyond the embedding table (t.npy, axis 0, V): expected more than 5 rows, the id "
        "of dessert, got 5");
}
