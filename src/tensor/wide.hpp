// QKV_WIDE: a function that is also built for wider registers, chosen when the program is loaded.
#pragma once

// The clones do the same operations in the same order (multiply-adds are never fused in this
// library), so that every CPU gives the same bits. What they call has to be inlined into them.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define QKV_WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define QKV_WIDE
#endif

#define QKV_INLINE inline __attribute__((always_inline))
