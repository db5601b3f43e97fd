#pragma once

#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace npustream::fuzz {

// Picks by a fixed seed.
class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}

  // In [0, count); 0 for a count of 0.
  size_t Below(size_t count) { return count == 0 ? 0 : static_cast<size_t>(engine_()) % count; }
  bool OneIn(size_t count) { return Below(count) == 0; }
  template <typename Container>
  auto& Of(Container& container) {
    return container[Below(container.size())];
  }

  // Mostly a small number, as sizes and axes are, else one at the edge of some type or limit.
  int64_t Int() {
    static constexpr int64_t kEdges[] = {
        -1, 0, 255, 256, 4096, 65535, 65536, 1 << 20, (1 << 20) + 1, 1 << 24, INT32_MAX, int64_t{INT32_MAX} + 1, INT32_MIN,
        int64_t{1} << 32, int64_t{1} << 34, int64_t{1} << 40, int64_t{1} << 62, INT64_MAX, INT64_MIN, INT64_MIN + 1};
    return OneIn(3) ? Of(kEdges) : static_cast<int64_t>(Below(12)) - 3;
  }
  float Float() {
    using Limits = std::numeric_limits<float>;
    static constexpr float kEdges[] = {0.0f,           -0.0f,         1.0f,           -1.0f, 0.5f,
                                       2.0f,           1e-6f,         1e6f,           Limits::max(),
                                       Limits::lowest(), Limits::min(), Limits::denorm_min(), Limits::infinity(),
                                       -Limits::infinity(), Limits::quiet_NaN()};
    return Of(kEdges);
  }

  uint32_t Bits() { return engine_(); }

 private:
  template <typename T, size_t N>
  const T& Of(const T (&values)[N]) {
    return values[Below(N)];
  }

  std::mt19937 engine_;
};

}  // namespace npustream::fuzz
