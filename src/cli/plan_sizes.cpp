// Sizes of a plan: from flags to inputs without elements.
#include "cli/plan_sizes.hpp"

#include <optional>

#include "cli/numbers.hpp"
#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"

namespace qkv::cli {

namespace {

/// No product of two of them overflows.
constexpr std::size_t most = std::size_t{1} << 30;

NamedArray sized(Shape shape, const std::string& where) {
  NamedArray named;
  named.array.strides = row_major_strides(shape, sizeof(float));
  named.array.shape = std::move(shape);
  named.where = where;
  return named;
}

class Maker {
 public:
  Maker(const PlanSizes& sizes, const CommonOptions& options, Request& request)
      : sizes_(sizes), options_(options), request_(request) {}

  void make() {
    require_no_tensors();
    B_ = size(sizes_.batch, "--batch").value_or(1);
    L_ = size(sizes_.seq, "--seq").value_or(0);
    if (sizes_.seq.empty()) missing("--seq", "the number of queries");
    S_ = size(sizes_.kv_seq, "--kv-seq").value_or(L_);
    const auto E = size(sizes_.d_model, "--d-model"), D = size(sizes_.d_k, "--d-k"),
               Dv = size(sizes_.d_v, "--d-v");
    if (sizes_.d_model.empty() && sizes_.d_k.empty())
      missing("--d-model", "the width of the model, or that of a head with --d-k");
    complaints_.throw_if_any();
    H_ = request_.settings.heads;
    G_ = request_.settings.kv_heads.value_or(H_);
    require_heads(E, D);
    D_ = D ? *D : *E / H_;
    Dv_ = Dv.value_or(D_);
    if (E) {
      make_x(*E);
    } else {
      make_heads();
    }
  }

 private:
  void require_no_tensors() {
    for (const char* name : {"input", "context", "q", "k", "v", "past-k", "past-v", "weights", "wq",
                             "wk", "wv", "wo", "bq", "bk", "bv", "bo", "wqkv", "bqkv"}) {
      if (!options_.has(name)) continue;
      throw Error(Complaint{
          .what = "both sizes and tensors",
          .where = std::string(name) == "input" ? escaped(options_.at(name)) : options_.place(name),
          .expected = "tensors, or sizes such as --seq in their place",
          .got = "both"});
    }
  }

  void missing(const std::string& flag, const std::string& what) {
    complaints_.add({.what = "missing size", .where = flag, .expected = what, .got = "none"});
  }

  std::optional<std::size_t> size(const std::string& text, const std::string& flag) {
    std::optional<std::size_t> size;
    if (text.empty()) return size;
    complaints_.attempt([&] {
      size = static_cast<std::size_t>(parse_integer(text, flag, 1));
      if (*size <= most) return;
      throw Error(Complaint{.what = "size too large",
                            .where = flag,
                            .expected = "at most " + std::to_string(most),
                            .got = escaped(text)});
    });
    return size;
  }

  void require_heads(const std::optional<std::size_t>& E, const std::optional<std::size_t>& D) {
    const std::string heads = std::to_string(H_);
    if (H_ > most) {
      complaints_.add({.what = "size too large",
                       .where = options_.place("heads"),
                       .expected = "at most " + std::to_string(most),
                       .got = heads});
    } else if (G_ == 0 || H_ % G_ != 0) {
      complaints_.add({.what = "query heads are no multiple of key/value heads",
                       .where = options_.place("kv-heads"),
                       .expected = "a divisor of H = " + heads + " as in --heads",
                       .got = std::to_string(G_)});
    } else if (!D && *E % H_ != 0) {
      complaints_.add({.what = "heads do not divide the width",
                       .where = options_.place("heads"),
                       .expected = "a divisor of E = " + std::to_string(*E) + " as in --d-model",
                       .got = heads,
                       .hint = "or give the width of a head with --d-k"});
    }
    complaints_.throw_if_any();
  }

  void make_x(std::size_t E) {
    Inputs& in = request_.inputs;
    in.x = sized({B_, L_, E}, "--d-model");
    if (!sizes_.kv_seq.empty()) in.context = sized({B_, S_, E}, "--kv-seq");
    const bool out_in = request_.settings.weight_order == WeightOrder::out_in;
    // Which way round a square weight lies makes no difference to its size.
    if (!out_in) request_.settings.weight_order = WeightOrder::in_out;
    const auto weight = [&](std::size_t from, std::size_t to) {
      return sized(out_in ? Shape{to, from} : Shape{from, to}, "--d-model");
    };
    in.wq = weight(E, H_ * D_);
    in.wk = weight(E, G_ * D_);
    in.wv = weight(E, G_ * Dv_);
    if (H_ > 1) in.wo = weight(H_ * Dv_, E);
  }

  void make_heads() {
    const auto heads = [&](std::size_t count, std::size_t length, std::size_t width,
                           const char* flag) {
      if (request_.settings.layout == Layout::blhd) return sized({B_, length, count, width}, flag);
      return sized({B_, count, length, width}, flag);
    };
    request_.inputs.q = heads(H_, L_, D_, "--seq");
    request_.inputs.k = heads(G_, S_, D_, sizes_.kv_seq.empty() ? "--seq" : "--kv-seq");
    request_.inputs.v = heads(G_, S_, Dv_, sizes_.d_v.empty() ? "--d-k" : "--d-v");
  }

  const PlanSizes& sizes_;
  const CommonOptions& options_;
  Request& request_;
  Complaints complaints_;
  std::size_t B_ = 1, L_ = 1, S_ = 1, H_ = 1, G_ = 1, D_ = 1, Dv_ = 1;
};

}  // namespace

bool PlanSizes::any() const {
  for (const std::string* size : {&batch, &seq, &kv_seq, &d_model, &d_k, &d_v}) {
    if (!size->empty()) return true;
  }
  return false;
}

void add_sized_inputs(const PlanSizes& sizes, const CommonOptions& options, Request& request) {
  Maker(sizes, options, request).make();
}

}  // namespace qkv::cli
