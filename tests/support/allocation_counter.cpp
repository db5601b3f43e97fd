#include "tests/support/allocation_counter.h"

#include <atomic>
#include <cerrno>
#include <cstddef>

// glibc's own allocator under its internal names; the public names are taken over below and count.
extern "C" {
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* memory, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);
}

namespace {
std::atomic<uint64_t> g_allocations = 0;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define NPUSTREAM_COUNT_ALLOCATIONS 0
#else
#define NPUSTREAM_COUNT_ALLOCATIONS 1
#endif

namespace npustream::testing_support {
uint64_t AllocationCount() { return g_allocations; }
bool AllocationsAreCounted() { return NPUSTREAM_COUNT_ALLOCATIONS; }
}  // namespace npustream::testing_support

#if NPUSTREAM_COUNT_ALLOCATIONS
extern "C" {

void* malloc(size_t bytes) {
  g_allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(bytes);
}
void* calloc(size_t count, size_t bytes) {
  g_allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_calloc(count, bytes);
}
void* realloc(void* memory, size_t bytes) {
  g_allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_realloc(memory, bytes);
}
void* memalign(size_t alignment, size_t bytes) {
  g_allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_memalign(alignment, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }
int posix_memalign(void** memory, size_t alignment, size_t bytes) {
  *memory = memalign(alignment, bytes);
  return *memory == nullptr ? ENOMEM : 0;
}
}
#endif
