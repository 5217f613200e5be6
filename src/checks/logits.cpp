// Logits: picking the stage, and the steps after it.
#include "logits.hpp"

#include <cmath>
#include <limits>

#include "qkv/base/text.hpp"

namespace qkv::checks {

namespace {

template <class T>
double fill_of(const Fill& fill) {
  switch (fill.kind) {
    case Fill::Kind::number:
      return static_cast<double>(static_cast<T>(fill.number));
    case Fill::Kind::lowest:
      return static_cast<double>(std::numeric_limits<T>::lowest());
    case Fill::Kind::negative_infinity:
      break;
  }
  return -std::numeric_limits<double>::infinity();
}

}  // namespace

template <class T>
std::optional<double> scale_of(const Evidence<T>& evidence) {
  const Settings& settings = evidence.settings;
  if (settings.scale) return *settings.scale;
  if (settings.temperature) return 1 / *settings.temperature;
  if (evidence.sizes.D == 0) return std::nullopt;
  return 1 / std::sqrt(static_cast<double>(evidence.sizes.D));
}

template <class T>
Logits<T>::Logits(const Evidence<T>& evidence) {
  struct Candidate {
    const char* name;
    const Tensor<T, 4>* tensor;
  };
  for (const Candidate& candidate :
       {Candidate{"masked", &evidence.masked}, Candidate{"capped", &evidence.capped},
        Candidate{"scaled", &evidence.scaled}, Candidate{"scores", &evidence.scores}}) {
    if (candidate.tensor->empty()) continue;
    stage_ = candidate.tensor;
    stage_name_ = formula_ = candidate.name;
    break;
  }
  if (stage_ == nullptr) {
    missing_ = "needs the stage before attn: masked, scaled or scores";
    return;
  }
  if (stage_ == &evidence.masked) return;
  if (stage_ == &evidence.scores) {
    const auto scale = scale_of(evidence);
    if (!scale) {
      missing_ = "needs D or a scale: only scores before the scale are there";
      return;
    }
    factor_ = *scale;
    formula_.append("*").append(short_number(factor_));
  }
  if (stage_ != &evidence.capped && evidence.settings.softcap) {
    cap_ = evidence.settings.softcap;
    formula_.append(", capped at ").append(short_number(*cap_));
  }
  if (evidence.visibility != nullptr && evidence.visibility->any()) {
    visibility_ = evidence.visibility;
    formula_ += " with the mask";
  }
}

template <class T>
void Logits<T>::row(std::size_t b, std::size_t h, std::size_t i, std::vector<double>& row) const {
  const auto from = stage_->row(b, h, i);
  row.resize(from.size());
  for (std::size_t j = 0; j < from.size(); ++j) {
    double x = static_cast<double>(from[j]) * factor_;
    if (cap_) x = *cap_ * std::tanh(x / *cap_);
    if (visibility_ != nullptr) {
      const auto added = static_cast<double>(visibility_->bias(b, h, i, j));
      if (added == -std::numeric_limits<double>::infinity()) {
        x = added;
      } else if (visibility_->hidden(b, h, i, j)) {
        x = fill_of<T>(visibility_->fill);
      } else {
        x += added;
      }
    }
    row[j] = x;
  }
}

template std::optional<double> scale_of(const Evidence<float>&);
template std::optional<double> scale_of(const Evidence<double>&);
template class Logits<float>;
template class Logits<double>;

}  // namespace qkv::checks
