// Magnitude: the three questions of stage.magnitude, each answered on its own.
#pragma once

#include "qkv/checks/check.hpp"

namespace qkv::checks {

/// scaled[b,h,i,j] = scores[b,h,i,j] * scale: a failure where not, with the factor that fits.
template <class T>
CheckResult scale_applied(const Evidence<T>& evidence);

/// std of scaled against what independent q and k of their spread give: a warning where it looks as
/// if the scale were missing or there twice.
template <class T>
CheckResult spread_of_scaled(const Evidence<T>& evidence);

/// attn*v within the range of v, channel by channel: a failure where not.
template <class T>
CheckResult heads_within_values(const Evidence<T>& evidence);

}  // namespace qkv::checks
