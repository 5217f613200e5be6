// The checks, one claim each; check_list.cpp gives them their ids and order.
#pragma once

#include "qkv/checks/check.hpp"

namespace qkv::checks {

// Each returns what it found, without id and step: those come from the table.
// Each is instantiated for float and double in the file of its name.

template <class T>
CheckResult input_finite(const Evidence<T>& evidence);
template <class T>
CheckResult input_dtype(const Evidence<T>& evidence);
template <class T>
CheckResult input_range(const Evidence<T>& evidence);
template <class T>
CheckResult mask_dtype(const Evidence<T>& evidence);
template <class T>
CheckResult mask_polarity(const Evidence<T>& evidence);
template <class T>
CheckResult mask_shape(const Evidence<T>& evidence);
template <class T>
CheckResult weights_shared(const Evidence<T>& evidence);
template <class T>
CheckResult stage_finite(const Evidence<T>& evidence);
template <class T>
CheckResult stage_magnitude(const Evidence<T>& evidence);
template <class T>
CheckResult softmax_range(const Evidence<T>& evidence);
template <class T>
CheckResult softmax_row_sum(const Evidence<T>& evidence);
template <class T>
CheckResult softmax_axis(const Evidence<T>& evidence);
template <class T>
CheckResult softmax_recompute(const Evidence<T>& evidence);
template <class T>
CheckResult softmax_rank(const Evidence<T>& evidence);
template <class T>
CheckResult softmax_saturation(const Evidence<T>& evidence);
template <class T>
CheckResult softmax_uniform(const Evidence<T>& evidence);
template <class T>
CheckResult mask_hidden_zero(const Evidence<T>& evidence);
template <class T>
CheckResult mask_leak(const Evidence<T>& evidence);
template <class T>
CheckResult mask_before_softmax(const Evidence<T>& evidence);
template <class T>
CheckResult mask_empty_rows(const Evidence<T>& evidence);
template <class T>
CheckResult resource_memory(const Evidence<T>& evidence);

}  // namespace qkv::checks
