// Back through the cache: past keys and values get their part, the new ones theirs.
#pragma once

#include "qkv/tensor/tensor.hpp"

namespace qkv {

template <class T>
struct CacheGrad {
  Tensor<T, 4> past = {};  ///< (B,G,P,D), empty without a cache
  Tensor<T, 4> now = {};   ///< (B,G,S-P,D)
};

/// dpast[b,g,s,:] = dy[b,g,s,:] for s < P,  dnow[b,g,s,:] = dy[b,g,P+s,:]
///
/// shape   dy (B,G,S,D)
template <class T>
CacheGrad<T> cache_grad(const Tensor<T, 4>& dy, std::size_t P);

}  // namespace qkv
