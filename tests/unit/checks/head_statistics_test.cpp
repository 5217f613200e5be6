// Head statistics: where the weights of each head go, by hand and as NumPy counts it.
#include "qkv/checks/head_statistics.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "cases.hpp"
#include "qkv/base/json.hpp"
#include "support/program.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

/// attn (1,1,L,S) and nothing else.
Evidence<double> weights_alone(std::size_t L, std::size_t S, const std::vector<double>& attn) {
  Evidence<double> evidence;
  evidence.sizes.L = L;
  evidence.sizes.S = S;
  evidence.attn = tensor<double, 4>({1, 1, L, S}, attn);
  return evidence;
}

HeadStatistics only(const Evidence<double>& evidence) {
  const std::vector<HeadStatistics> heads = head_statistics(evidence);
  REQUIRE(heads.size() == 1);
  return heads.front();
}

/// A few roundings of numbers below 2.
bool near(const std::optional<double>& got, double want) {
  return got && std::abs(*got - want) <= 1e-15;
}

}  // namespace

TEST_CASE("head statistics: means over the queries, entropy in nats") {
  const HeadStatistics head = only(weights_alone(2, 2, {0.5, 0.5, 0.25, 0.75}));
  const double second = 0.25 * std::log(4) + 0.75 * std::log(4.0 / 3);
  CHECK(near(head.entropy, (std::log(2) + second) / 2));
  CHECK(near(head.entropy_share, (1 + second / std::log(2)) / 2));
  CHECK(near(head.max, 0.625));
  CHECK(near(head.self, 0.625));
  CHECK(near(head.previous, 0.25));  // query 0 has no key before it
  CHECK(near(head.first, 0.375));
}

TEST_CASE("head statistics: a weight of 0 adds no entropy, and one key is no choice") {
  const HeadStatistics head = only(weights_alone(2, 2, {1, 0, 1, 0}));
  CHECK(near(head.entropy, 0));
  CHECK(near(head.entropy_share, 0));
  CHECK(head_statistics(weights_alone(2, 1, {1, 1})).empty());
  CHECK(head_statistics(Evidence<double>{}).empty());
}

TEST_CASE("head statistics: queries that see no key are left out, by rule or by weights of 0") {
  Evidence<double> evidence = weights_alone(2, 2, {0.5, 0.5, 0.2, 0.8});
  Visibility<double> rules{.B = 1, .H = 1, .L = 2, .S = 2};
  rules.offset = {0};
  rules.hidden_by_mask = Tensor<std::uint8_t, 4>::make({1, 1, 2, 1});
  rules.hidden_by_mask.data()[0] = 1;  // 1/S each is what --empty-rows uniform makes of query 0
  evidence.visibility = &rules;
  CHECK(near(only(evidence).max, 0.8));
  CHECK(near(only(evidence).first, 0.2));
  CHECK(near(only(weights_alone(2, 2, {0, 0, 0.2, 0.8})).first, 0.2));
  CHECK(!only(weights_alone(2, 2, {0, 0, 0, 0})).entropy);
}

TEST_CASE("head statistics: self and previous follow the causal rule's offset") {
  // Two queries after a cache of one key: query 0 stands at key 1.
  const std::vector<double> attn = {0.3, 0.7, 0, 0.1, 0.2, 0.7};
  Evidence<double> evidence = weights_alone(2, 3, attn);
  evidence.sizes.P = 1;
  CHECK(near(only(evidence).self, 0.7));
  CHECK(near(only(evidence).previous, 0.25));

  // Nothing says how two queries stand to three keys, until a causal rule from the end does.
  CHECK(!only(weights_alone(2, 3, attn)).self);
  CHECK(!only(weights_alone(2, 3, attn)).previous);
  Evidence<double> ruled = weights_alone(2, 3, attn);
  Visibility<double> rules{.B = 1, .H = 1, .L = 2, .S = 3, .causal = true};
  rules.offset = {1};
  ruled.visibility = &rules;
  CHECK(near(only(ruled).self, 0.7));
  // Query 0 sees two keys, query 1 three.
  const double first = 0.3 * std::log(1 / 0.3) + 0.7 * std::log(1 / 0.7);
  const double second = 0.1 * std::log(10) + 0.2 * std::log(5) + 0.7 * std::log(1 / 0.7);
  CHECK(near(only(ruled).entropy_share, (first / std::log(2) + second / std::log(3)) / 2));
  // A query before the first key, as a negative offset has it, has no key of its own.
  rules.offset = {-2};
  rules.causal = false;
  rules.window = Window{-1, -1};
  rules.window_offset = {0};
  CHECK(!only(ruled).self);
}

TEST_CASE("head statistics: keys from another sequence have no position that is the query's own") {
  Evidence<double> evidence = weights_alone(2, 2, {0.5, 0.5, 0.25, 0.75});
  evidence.sizes.has_context = true;
  CHECK(!only(evidence).self);
  CHECK(!only(evidence).previous);
  CHECK(only(evidence).first);
}

TEST_CASE("head statistics: a NaN is not averaged away") {
  const HeadStatistics head = only(weights_alone(2, 2, {0.5, 0.5, not_a_number, 0.5}));
  CHECK(std::isnan(*head.entropy));
  CHECK(std::isnan(*head.max));
  CHECK(std::isnan(*head.first));
}

TEST_CASE("head statistics: trace reports what NumPy makes of PyTorch's weights") {
  const std::string data = QKV_TEST_DATA "/heads/";
  for (const std::string name : {"parameters", "linear_biased", "cross", "one"}) {
    INFO(name);
    const Ended ended = run_program({"trace", data + name, "--json"});
    REQUIRE(ended.status == 0);
    const Json report = Json::parse(ended.out, "trace");
    const Json& heads = *report.find("heads");
    const Array want = tensor_file(data + name + ".npz:statistics");
    REQUIRE(heads.items().size() == want.shape[0]);
    for (std::size_t h = 0; h < want.shape[0]; ++h) {
      const Json& head = heads.items()[h];
      CHECK(head.find("head")->number() == static_cast<double>(h));
      std::size_t n = 6 * h;
      for (const char* key : {"entropy", "entropy_share", "max", "self", "previous", "first"}) {
        INFO(key << " of head " << h);
        const double number = element(want, n++);
        if (std::isnan(number)) {
          CHECK(head.find(key)->kind() == Json::Kind::null);
        } else {
          CHECK(std::abs(head.find(key)->number() - number) <= 1e-14);
        }
      }
    }
  }
}
