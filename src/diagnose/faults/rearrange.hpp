// Rearranging (B,H,L,D): the moves of numbers that wrong reshapes and transposes make.
#pragma once

#include <cstddef>
#include <vector>

#include "qkv/tensor/tensor.hpp"

namespace qkv {

/// The heads side by side: y[b,0,l,h*D+d] = x[b,h,l,d].
///
/// shape   (B,H,L,D) -> (B,1,L,H*D)
Tensor<double, 4> merged_heads(const Tensor<double, 4>& x);

/// Head h owns channels h*D .. h*D+D-1, from any tensor that holds (B,L,H*D) in this order.
///
/// shape   (B,1,L,H*D) -> (B,H,L,D)
Tensor<double, 4> divided_heads(const Tensor<double, 4>& x, std::size_t heads);

/// What a reshape of (B,L,H*D) to (B,H,L,D) makes of x, in place of a split into heads.
///
/// shape   (B,H,L,D) -> (B,H,L,D)
Tensor<double, 4> viewed_as_heads(const Tensor<double, 4>& x);

/// What a reshape of (B,H,L,D) to (B,L,H*D) makes, in place of a merge of the heads.
///
/// shape   (B,H,L,D) -> (B,1,L,H*D)
Tensor<double, 4> viewed_as_merged(const Tensor<double, 4>& x);

/// Channel c of the merged heads goes to head c % H, not to head c / D.
///
/// shape   (B,H,L,D) -> (B,H,L,D)
Tensor<double, 4> dealt_in_turn(const Tensor<double, 4>& x);

/// The heads merged with the head innermost: y[b,0,l,d*H+h] = x[b,h,l,d].
///
/// shape   (B,H,L,D) -> (B,1,L,H*D)
Tensor<double, 4> merged_in_turn(const Tensor<double, 4>& x);

/// Exchanges the last two axes: (B,H,L,S) -> (B,H,S,L).
Tensor<double, 4> exchange_last_axes(const Tensor<double, 4>& x);

/// Exchanges axes 0 and 2: (B,H,L,D) -> (L,H,B,D).
Tensor<double, 4> exchange_batch_and_length(const Tensor<double, 4>& x);

/// shape   (B,H,L,S) -> (B,1,L,S)
Tensor<double, 4> mean_over_heads(const Tensor<double, 4>& x);

/// y[b,n,:,:] = x[b,heads[n],:,:]
///
/// shape   (B,G,S,D) -> (B,heads.size(),S,D)
Tensor<double, 4> picked_heads(const Tensor<double, 4>& x, const std::vector<std::size_t>& heads);

}  // namespace qkv
