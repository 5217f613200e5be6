// weights.shared
#include <catch2/catch.hpp>

#include "cases.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

NamedArray weight(const std::string& where, const Shape& shape, const std::vector<double>& values) {
  return NamedArray{.array = array(shape, values), .where = where};
}

}  // namespace

TEST_CASE("weights.shared: three different matrices pass") {
  Case<float> made;
  made.inputs.wq = weight("wq.npy", {2, 2}, {1, 2, 3, 4});
  made.inputs.wk = weight("wk.npy", {2, 2}, {1, 2, 3, 5});
  made.inputs.wv = weight("wv.npy", {2, 2}, {1, 3, 2, 4});
  const CheckResult result = made.run("weights.shared");
  CHECK(result.status == Status::pass);
  CHECK(*result.value == 0);
  CHECK(result.stage == "wq,wk,wv");
}

TEST_CASE("weights.shared: equal numbers warn, whatever their type or order in the file") {
  Case<float> made;
  made.inputs.wq = weight("wq.npy", {2, 2}, {1, 2, 3, 4});
  made.inputs.wk =
      NamedArray{.array = array_of<float>(DType::float32, {2, 2}, {1, 3, 2, 4}), .where = "wk.npy"};
  made.inputs.wk->array.strides = column_major_strides({2, 2}, 4);
  made.inputs.wv = weight("wv.npy", {2, 3}, {1, 2, 3, 4, 5, 6});
  const CheckResult result = made.run("weights.shared");
  CHECK(result.status == Status::warn);
  CHECK(*result.value == 1);
  CHECK(*result.limit == 0);
  CHECK(result.stage == "wq,wk");
  CHECK(contains(result.message, "wq.npy = wk.npy"));
  made.inputs.wv = made.inputs.wq;
  CHECK(*made.run("weights.shared").value == 3);
}

TEST_CASE("weights.shared: NaN equals nothing") {
  Case<float> made;
  made.inputs.wq = weight("wq.npy", {1, 1}, {not_a_number});
  made.inputs.wk = weight("wk.npy", {1, 1}, {not_a_number});
  CHECK(made.run("weights.shared").status == Status::pass);
}

TEST_CASE("weights.shared: the parts of a fused weight are compared in each order") {
  // E = 2, H = 2, D = Dv = 1: columns q0 q1 k0 k1 v0 v1 in blocks, q0 k0 v0 q1 k1 v1 per head
  Case<float> made;
  made.size(1, 2, 2, 3, 3, 1, 1);
  made.evidence.sizes.E = 2;
  made.inputs.wqkv = weight("qkv.npy", {2, 6}, {1, 2, 5, 6, 1, 2, 3, 4, 7, 8, 3, 4});
  const CheckResult blocks = made.run("weights.shared");
  CHECK(blocks.status == Status::warn);
  CHECK(blocks.stage == "q,v");
  CHECK(contains(blocks.message, "q = v in qkv.npy"));
  made.evidence.settings.qkv_order = QkvOrder::per_head;  // q = (1,6), k = (2,1), v = (5,2)
  CHECK(made.run("weights.shared").status == Status::pass);
  made.inputs.wqkv = weight("qkv.npy", {2, 6}, {1, 1, 5, 2, 2, 6, 3, 3, 7, 4, 4, 8});
  CHECK(made.run("weights.shared").stage == "q,k");
  made.evidence.settings.qkv_order = QkvOrder::per_group;
  CHECK(made.run("weights.shared").stage == "q,k");
  // the same, stored out-in
  made.inputs.wqkv->array = transposed(made.inputs.wqkv->array, {1, 0});
  CHECK(made.run("weights.shared").stage == "q,k");
}

TEST_CASE("weights.shared: grouped heads compare k with v, the only two of one size") {
  // E = 1, H = 2, G = 1, D = Dv = 1: columns q0 q1 k v
  Case<float> made;
  made.size(1, 2, 1, 3, 3, 1, 1);
  made.evidence.sizes.E = 1;
  made.inputs.wqkv = weight("qkv.npy", {1, 4}, {1, 2, 3, 3});
  const CheckResult same = made.run("weights.shared");
  CHECK(same.status == Status::warn);
  CHECK(same.stage == "k,v");
  made.inputs.wqkv = weight("qkv.npy", {1, 4}, {1, 2, 3, 4});
  CHECK(made.run("weights.shared").status == Status::pass);
}

TEST_CASE("weights.shared: without weights, or with shapes that cannot be equal, it is a skip") {
  Case<float> made;
  CHECK(made.run("weights.shared").status == Status::skip);
  made.inputs.wq = weight("wq.npy", {2, 2}, {1, 2, 3, 4});
  made.inputs.wk = weight("wk.npy", {2, 1}, {1, 2});
  CHECK(made.run("weights.shared").status == Status::skip);
}
