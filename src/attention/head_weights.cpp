// Head weights: a list of heads, each with projections of its own, as one multi-head projection.
#include "qkv/attention/head_weights.hpp"

#include <algorithm>
#include <string>

#include "qkv/attention/sizes.hpp"
#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"

namespace qkv {

namespace {

using Heads = std::vector<NamedArray>;

struct Role {
  const char* name;
  Heads HeadWeights::*heads;
  std::optional<NamedArray> Inputs::*joined;
};
constexpr Role weight_roles[] = {{"wq", &HeadWeights::wq, &Inputs::wq},
                                 {"wk", &HeadWeights::wk, &Inputs::wk},
                                 {"wv", &HeadWeights::wv, &Inputs::wv}};
constexpr Role bias_roles[] = {{"bq", &HeadWeights::bq, &Inputs::bq},
                               {"bk", &HeadWeights::bk, &Inputs::bk},
                               {"bv", &HeadWeights::bv, &Inputs::bv}};

/// "demo/heads/0/wq.npy", "demo/heads/1/wq.npy" -> "demo/heads/*/wq.npy"
std::string where_of_all(const Heads& heads) {
  if (heads.size() == 1) return heads.front().where;
  const std::string &first = heads.front().where, &second = heads[1].where;
  const auto apart = std::ranges::mismatch(first, second);
  std::string front(first.begin(), apart.in1), back(apart.in1, first.end());
  return front + "*" + back.substr(back.find_first_not_of("0123456789"));
}

/// Heads of one list are of one size: the softmax and the merge know no other.
void require_alike(const Heads& heads, std::size_t rank, const std::string& expected,
                   Complaints& complaints) {
  const NamedArray& first = heads.front();
  for (const NamedArray& head : heads) {
    if (head.array.shape.size() != rank) {
      complaints.add({.what = "wrong rank",
                      .where = head.where,
                      .expected = expected,
                      .got = shape_text(head.array.shape)});
    } else if (head.array.shape != first.array.shape && first.array.shape.size() == rank) {
      complaints.add({.what = "heads differ in width",
                      .where = head.where,
                      .expected = shape_text(first.array.shape) + " as in " + first.where,
                      .got = shape_text(head.array.shape)});
    } else if (head.array.dtype != first.array.dtype) {
      complaints.add({.what = "heads differ in type",
                      .where = head.where,
                      .expected = std::string(name(first.array.dtype)) + " as in " + first.where,
                      .got = std::string(name(head.array.dtype))});
    }
  }
}

/// The heads one after another along their last axis (or their only one), or along their first.
NamedArray joined(const Heads& heads, bool along_last) {
  const Array& first = heads.front().array;
  const std::size_t size = size_of(first.dtype), H = heads.size();
  const std::size_t rows = along_last && first.shape.size() == 2 ? first.shape[0] : 1;
  const std::size_t row_bytes = element_count(first.shape) * size / std::max<std::size_t>(rows, 1);
  Shape shape = first.shape;
  (along_last ? shape.back() : shape.front()) *= H;

  const auto memory = allocate_bytes(rows * row_bytes * H);
  const auto one = allocate_bytes(rows * row_bytes);
  for (std::size_t h = 0; h < H; ++h) {
    copy_bytes(heads[h].array, one.get());
    for (std::size_t row = 0; row < rows; ++row) {
      std::copy_n(one.get() + row * row_bytes, row_bytes, memory.get() + (row * H + h) * row_bytes);
    }
  }
  return {.array = row_major_array(first.dtype, shape, memory.get(), memory),
          .where = where_of_all(heads)};
}

}  // namespace

Inputs with_head_shapes(const HeadWeights& heads, Inputs inputs) {
  Complaints complaints;
  for (const Role& role : weight_roles) {
    const Heads& own = heads.*role.heads;
    if (own.empty()) continue;
    require_alike(own, 2, std::string(role.name) + " of rank 2, (in,out) or (out,in)", complaints);
    const Array& first = own.front().array;
    inputs.*role.joined = NamedArray{.array = {.dtype = first.dtype, .shape = first.shape},
                                     .where = where_of_all(own),
                                     .head_shape = first.shape};
  }
  for (const Role& role : bias_roles) {
    const Heads& own = heads.*role.heads;
    if (!own.empty()) require_alike(own, 1, std::string(role.name) + " of rank 1", complaints);
  }
  complaints.throw_if_any();
  return inputs;
}

Inputs with_joined_heads(const HeadWeights& heads, const Inputs& inputs, const Settings& settings) {
  Inputs all = with_head_shapes(heads, inputs);
  const WeightOrders orders = find_weight_orders(all, settings);
  const WeightOrder order_of[] = {orders.wq, orders.wk, orders.wv};
  for (std::size_t n = 0; n < std::size(weight_roles); ++n) {
    const Heads& own = heads.*weight_roles[n].heads;
    if (own.empty()) continue;
    NamedArray weight = joined(own, order_of[n] == WeightOrder::in_out);
    weight.head_shape = own.front().array.shape;
    all.*weight_roles[n].joined = std::move(weight);
  }
  for (const Role& role : bias_roles) {
    if (!(heads.*role.heads).empty()) all.*role.joined = joined(heads.*role.heads, true);
  }
  return all;
}

}  // namespace qkv
