// Every vector function on each instruction set of this CPU against the C library or plain loops.
#include "npu_sim/kernels/simd/simd.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "npu_sim/kernels/isa.h"

namespace npustream::kernels {
namespace {

std::vector<Isa> Isas() {
  std::vector<Isa> isas = {Isa::kBaseline};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) isas.push_back(Isa::kAvx2);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl")) {
    isas.push_back(Isa::kAvx512);
    if (__builtin_cpu_supports("avx512vnni")) isas.push_back(Isa::kAvx512Vnni);
  }
  return isas;
}

struct Reference {
  UnaryOp op;
  std::function<double(double)> function;
  double relative, absolute;
  float a = 0, b = 0;
};

const Reference kReferences[] = {
    {UnaryOp::kRelu, [](double x) { return std::max(x, 0.0); }, 0, 0},
    {UnaryOp::kLeakyRelu, [](double x) { return x < 0 ? 0.125 * x : x; }, 0, 0, 0.125f},
    {UnaryOp::kClip, [](double x) { return std::min(std::max(x, -1.5), 6.0); }, 0, 0, -1.5f, 6},
    {UnaryOp::kSigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, 1e-6, 1e-30},
    {UnaryOp::kSilu, [](double x) { return x / (1 + std::exp(-x)); }, 1e-6, 1e-30},
    {UnaryOp::kHardSwish, [](double x) { return x * std::min(std::max(x / 6 + 0.5, 0.0), 1.0); }, 1e-6, 1e-6},
    {UnaryOp::kHardSigmoid, [](double x) { return std::min(std::max(0.25 * x + 0.5, 0.0), 1.0); }, 1e-6, 1e-7, 0.25f,
     0.5f},
    {UnaryOp::kTanh, [](double x) { return std::tanh(x); }, 5e-7, 0},
    {UnaryOp::kElu, [](double x) { return x < 0 ? 1.5 * (std::exp(x) - 1) : x; }, 1e-6, 3e-7, 1.5f},
    {UnaryOp::kMish, [](double x) { return x * std::tanh(std::log1p(std::exp(x))); }, 1e-6, 1e-30},
    {UnaryOp::kGelu, [](double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }, 1e-6, 2e-6},
    {UnaryOp::kErf, [](double x) { return std::erf(x); }, 2e-6, 0},
    {UnaryOp::kExp, [](double x) { return std::exp(x); }, 5e-7, 1e-38},
    {UnaryOp::kSoftplus, [](double x) { return std::log1p(std::exp(x)); }, 1e-6, 0},
    {UnaryOp::kNeg, [](double x) { return -x; }, 0, 0},
    {UnaryOp::kAbs, [](double x) { return std::fabs(x); }, 0, 0},
    {UnaryOp::kFloor, [](double x) { return std::floor(x); }, 0, 0},
    {UnaryOp::kCeil, [](double x) { return std::ceil(x); }, 0, 0},
    {UnaryOp::kRound, [](double x) { return std::nearbyint(x); }, 0, 0},
    {UnaryOp::kReciprocal, [](double x) { return 1 / x; }, 1e-7, 0},
};

TEST(SimdTest, UnaryFunctionsAreRight) {
  // An odd count, so that every width has a rest.
  std::vector<float> x;
  for (int i = -4001; i <= 4001; ++i) x.push_back(static_cast<float>(i) / 200.0f + 0.0013f);
  for (const float far : {-80.0f, -40.0f, 60.0f, 80.0f}) x.push_back(far);
  for (const Isa isa : Isas()) {
    for (const Reference& reference : kReferences) {
      std::vector<float> y(x.size());
      SimdFor(isa).unary[static_cast<int>(reference.op)](x.data(), y.data(), x.size(), reference.a, reference.b);
      for (size_t i = 0; i < x.size(); ++i) {
        const double expected = reference.function(static_cast<double>(x[i]));
        // Without fused multiply-add the argument's reduction rounds, in proportion to the argument.
        const double relative =
            reference.relative * (isa == Isa::kBaseline ? 1 + std::fabs(x[i]) : 1 + std::fabs(x[i]) / 20);
        ASSERT_NEAR(y[i], expected, relative * std::fabs(expected) + reference.absolute)
            << ToString(isa) << " op " << static_cast<int>(reference.op) << " x " << x[i];
      }
    }
  }
}

TEST(SimdTest, ExtremesStayInRange) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> x = {-infinity, -1e30f, -200, -104, 88.5f, 89, 200, 1e30f, infinity};
  for (const Isa isa : Isas()) {
    std::vector<float> y(x.size());
    const auto run = [&](UnaryOp op) { SimdFor(isa).unary[static_cast<int>(op)](x.data(), y.data(), x.size(), 1, 1); };
    run(UnaryOp::kExp);
    EXPECT_EQ(y[0], 0);
    EXPECT_EQ(y[2], 0);
    EXPECT_TRUE(std::isfinite(y[4]));
    EXPECT_EQ(y[6], infinity);
    run(UnaryOp::kSigmoid);
    for (const float value : y) EXPECT_TRUE(value >= 0 && value <= 1) << value;
    EXPECT_EQ(y[8], 1);
    run(UnaryOp::kTanh);
    EXPECT_EQ(y[1], -1);
    EXPECT_EQ(y[8], 1);
    const float nan = std::nanf("");
    float result = 0;
    SimdFor(isa).unary[static_cast<int>(UnaryOp::kExp)](&nan, &result, 1, 0, 0);
    EXPECT_TRUE(std::isnan(result));
  }
}

// What sums of bfloat16 products become, with a residual or none, as float32 or rounded to bfloat16.
void CheckBf16Endings(const SimdTable& table) {
  std::vector<float> sums, residual;
  for (int i = -1600; i < 1600; ++i) sums.push_back(static_cast<float>(i) / 157);
  for (size_t i = 0; i < sums.size(); ++i) residual.push_back(static_cast<float>(i % 97) / 50 - 1);
  std::vector<uint16_t> short_residual(sums.size()), short_y(sums.size());
  Avx512Simd().to_bf16(residual.data(), 16, short_residual.data(), 16, static_cast<int64_t>(sums.size() / 16), 16);
  std::vector<float> wide_residual(sums.size()), y(sums.size()), wide_y(sums.size());
  table.from_bf16(short_residual.data(), wide_residual.data(), wide_residual.size());
  for (size_t i = 0; i < residual.size(); ++i) ASSERT_NEAR(wide_residual[i], residual[i], 0x1p-8 * std::fabs(residual[i]));
  for (const Reference& r : kReferences) {
    const auto function = table.bf16_finish[static_cast<int>(r.op)];
    if (function == nullptr) continue;
    SCOPED_TRACE(static_cast<int>(r.op));
    for (const int added : {0, 1, 2}) {  // nothing, float32, bfloat16
      RealFinish f = {};
      f.sums = sums.data();
      f.groups = 2, f.pixels = static_cast<int64_t>(sums.size() / 32);
      f.sum_group_stride = f.y_group_stride = f.pixels * 16;
      f.a = r.a, f.b = r.b;
      f.bf16_residual = added == 2;
      if (added > 0) f.residual = added == 2 ? static_cast<const void*>(short_residual.data()) : residual.data();
      f.y = y.data();
      function(f);
      f.y = short_y.data(), f.bf16_y = true;
      function(f);
      table.from_bf16(short_y.data(), wide_y.data(), wide_y.size());
      for (size_t i = 0; i < sums.size(); ++i) {
        const double x = sums[i] + (added == 0 ? 0 : added == 2 ? wide_residual[i] : residual[i]), expected = r.function(x);
        ASSERT_NEAR(y[i], expected, 3e-4 * std::fabs(expected) + r.absolute + 1e-6) << x;
        ASSERT_NEAR(wide_y[i], y[i], 0x1p-8 * std::fabs(y[i])) << x;
      }
    }
  }
}

TEST(SimdTest, SumsBecomeRealNumbers) {
  if (Isas().back() < Isa::kAvx512) GTEST_SKIP() << "no AVX-512";
  SimdTable table = Avx512Simd();
  FillBf16Avx512(table);
  CheckBf16Endings(table);
}

TEST(SimdTest, SumsBecomeRealNumbersWithTheCpusRounding) {
  if (Isas().back() < Isa::kAvx512 || !__builtin_cpu_supports("avx512bf16")) GTEST_SKIP() << "no AVX512_BF16";
  SimdTable table = Avx512Simd();
  FillBf16Amx(table);
  CheckBf16Endings(table);
}

TEST(SimdTest, BinaryFunctionsAreRight) {
  std::mt19937 random(1);
  std::vector<float> x(67), y(67), z(67);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>(random() % 2000) / 100 - 10;
    y[i] = static_cast<float>(random() % 2000) / 100 + 0.5f;
  }
  const std::function<float(float, float)> expected[] = {std::plus<float>(),
                                                         std::minus<float>(),
                                                         std::multiplies<float>(),
                                                         std::divides<float>(),
                                                         [](float a, float b) { return std::min(a, b); },
                                                         [](float a, float b) { return std::max(a, b); },
                                                         [](float a, float b) { return a < 0 ? a * b : a; }};
  for (const Isa isa : Isas()) {
    for (int op = 0; op < static_cast<int>(BinaryOp::kCount); ++op) {
      SimdFor(isa).binary[op](x.data(), y.data(), z.data(), x.size());
      for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(z[i], expected[op](x[i], y[i])) << op;
      SimdFor(isa).binary_scalar[op](x.data(), 2.5f, z.data(), x.size(), false);
      for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(z[i], expected[op](x[i], 2.5f)) << op;
      SimdFor(isa).binary_scalar[op](x.data(), 2.5f, z.data(), x.size(), true);
      for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(z[i], expected[op](2.5f, x[i])) << op;
    }
  }
}

TEST(SimdTest, MatricesAreTransposed) {
  for (const Isa isa : Isas()) {
    for (const size_t rows : {1u, 3u, 8u, 15u, 16u, 17u, 40u}) {
      for (const size_t columns : {1u, 7u, 16u, 33u}) {
        const size_t x_step = columns + 5, y_step = rows + 3;
        std::vector<float> x(rows * x_step), y(columns * y_step, -1);
        for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
        SimdFor(isa).transpose(x.data(), x_step, rows, columns, y.data(), y_step);
        for (size_t c = 0; c < columns; ++c) {
          for (size_t r = 0; r < y_step; ++r)
            ASSERT_EQ(y[c * y_step + r], r < rows ? x[r * x_step + c] : -1) << ToString(isa) << rows << "x" << columns;
        }
      }
    }
  }
}

TEST(SimdTest, ChannelsGoIntoGroupsAndBack) {
  for (const Isa isa : Isas()) {
    const auto block = static_cast<size_t>(om::BlockOf(BlockedLayout(isa)));
    for (const size_t channels : {1u, 3u, 16u, 21u}) {
      const size_t pixels = 37, groups = (channels + block - 1) / block;
      std::vector<float> planes(channels * pixels), blocked(groups * block * pixels, -1), back(planes.size());
      for (size_t i = 0; i < planes.size(); ++i) planes[i] = static_cast<float>(i + 1);
      SimdFor(isa).to_blocked(planes.data(), blocked.data(), channels, pixels, block);
      for (size_t i = 0; i < blocked.size(); ++i) {
        const size_t channel = i / (pixels * block) * block + i % block, pixel = i / block % pixels;
        ASSERT_EQ(blocked[i], channel < channels ? planes[channel * pixels + pixel] : 0) << ToString(isa);
      }
      SimdFor(isa).from_blocked(blocked.data(), back.data(), channels, pixels, block);
      ASSERT_EQ(back, planes) << ToString(isa);
    }
  }
}

TEST(SimdTest, PowersAreRight) {
  std::vector<float> x = {1e-38f, 1.2e-38f, 0, -2, 3e38f};
  for (int i = 1; i < 3000; ++i) x.push_back(static_cast<float>(i * i) * 1e-4f);
  for (const Isa isa : Isas()) {
    for (const float e : {0.45f, 2.0f, 3.0f, -1.5f, 1.0f, 0.0f, 3.7f}) {
      std::vector<float> y(x.size());
      SimdFor(isa).power(x.data(), y.data(), x.size(), e);
      for (size_t i = 0; i < x.size(); ++i) {
        const float expected = std::pow(x[i], e);
        if (std::isnan(expected) || std::isinf(expected)) {
          ASSERT_TRUE(std::isnan(expected) ? std::isnan(y[i]) : y[i] == expected) << x[i] << "^" << e << " is " << y[i];
        } else {
          ASSERT_NEAR(y[i], expected, 3e-7f * std::fabs(expected) + 1e-45f) << ToString(isa) << " " << x[i] << "^" << e;
        }
      }
    }
  }
}

TEST(SimdTest, BlockingAndBack) {
  for (const Isa isa : Isas()) {
    const auto block = static_cast<size_t>(om::BlockOf(BlockedLayout(isa)));
    const size_t channels = 2 * block + 3, pixels = 77, stored = 3 * block;
    std::vector<float> planes(channels * pixels), blocked(stored * pixels, 9), back(planes.size());
    for (size_t i = 0; i < planes.size(); ++i) planes[i] = static_cast<float>(i);
    SimdFor(isa).to_blocked(planes.data(), blocked.data(), channels, pixels, block);
    for (size_t c = 0; c < stored; ++c) {
      for (size_t p = 0; p < pixels; ++p) {
        ASSERT_EQ(blocked[(c / block * pixels + p) * block + c % block], c < channels ? planes[c * pixels + p] : 0);
      }
    }
    SimdFor(isa).from_blocked(blocked.data(), back.data(), channels, pixels, block);
    EXPECT_EQ(back, planes);
  }
}

// The arithmetic of FACTS: (M · (in − bias)) >> 8, clamped, then (x − mean − min) · var_reci.
TEST(SimdTest, AippRowsAreBitExact) {
  AippRow row = {{298, 0, 409, 298, -100, -208, 298, 516, 0},
                 {16, 128, 128},
                 {0, 0, 0},
                 {10, 20, 30},
                 {0.5f, 1.25f, 0},
                 {1 / 58.0f, 1, 0.25f},
                 true};
  std::mt19937 random(3);
  std::vector<uint8_t> luma(131), chroma(132);
  for (uint8_t& value : luma) value = static_cast<uint8_t>(random());
  for (uint8_t& value : chroma) value = static_cast<uint8_t>(random());
  for (const Isa isa : Isas()) {
    std::vector<float> result[3];
    float* rows[3];
    for (int c = 0; c < 3; ++c) {
      result[c].assign(luma.size(), -1);
      rows[c] = result[c].data();
    }
    SimdFor(isa).aipp_nv12_row(luma.data(), chroma.data(), false, rows, luma.size(), row);
    for (size_t i = 0; i < luma.size(); ++i) {
      const int in[3] = {luma[i] - 16, chroma[i / 2 * 2] - 128, chroma[i / 2 * 2 + 1] - 128};
      for (int c = 0; c < 3; ++c) {
        const int sum =
            (row.matrix[c * 3] * in[0] + row.matrix[c * 3 + 1] * in[1] + row.matrix[c * 3 + 2] * in[2]) >> 8;
        const float value = static_cast<float>(sum < 0 ? 0 : sum > 255 ? 255 : sum);
        ASSERT_EQ(result[c][i], (value - row.offset[c] - row.minimum[c]) * row.scale[c])
            << ToString(isa) << " pixel " << i << " channel " << c;
      }
    }
  }
}

// Bytes of every value, in an odd count.
std::vector<uint8_t> ManyBytes(unsigned factor) {
  std::vector<uint8_t> bytes(1003);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * factor + i / 256);
  return bytes;
}

TEST(SimdTest, RealNumbersBecomeTheNearestBytes) {
  std::vector<float> x;
  for (int i = -700; i <= 700; ++i) x.push_back(static_cast<float>(i) / 2.0f);  // every tie, and beyond both ends
  for (const Isa isa : Isas()) {
    for (const float scale : {1.0f, 0.5f, 0.03f, 1.7f}) {
      std::vector<uint8_t> y(x.size());
      SimdFor(isa).quantize(x.data(), y.data(), x.size(), scale, 7);
      std::vector<float> back(x.size());
      SimdFor(isa).dequantize(y.data(), back.data(), x.size(), scale, 7);
      for (size_t i = 0; i < x.size(); ++i) {
        const float steps = std::min(std::max(std::nearbyint(x[i] / scale) + 7, 0.0f), 255.0f);
        ASSERT_EQ(y[i], steps) << ToString(isa) << " " << x[i] << " in steps of " << scale;
        ASSERT_FLOAT_EQ(back[i], (steps - 7) * scale) << ToString(isa);
      }
    }
  }
}

TEST(SimdTest, BytesAreLookedUpAndCompared) {
  const std::vector<uint8_t> x = ManyBytes(1), other = ManyBytes(37);
  std::vector<uint8_t> table(256);
  for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<uint8_t>(i * 91 + 5);
  for (const Isa isa : Isas()) {
    std::vector<uint8_t> found(x.size()), greatest = other;
    SimdFor(isa).look_up(x.data(), found.data(), x.size(), table.data());
    SimdFor(isa).byte_max(x.data(), x.size(), greatest.data(), 1, x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(found[i], table[x[i]]) << ToString(isa) << " " << i;
      ASSERT_EQ(greatest[i], std::max(x[i], other[i])) << ToString(isa) << " " << i;
    }
  }
}

TEST(SimdTest, SumsAndProductsOfBytesAreRounded) {
  const std::vector<uint8_t> x = ManyBytes(1), y = ManyBytes(37);
  for (const Isa isa : Isas()) {
    std::vector<uint8_t> sum(x.size()), product(x.size());
    ByteBinary b = {x.data(), y.data(), sum.data(), x.size(), 0.31f, 0.27f, 0, 0, -20.3f, 3, 250};
    SimdFor(isa).byte_add(b);
    b.z = product.data(), b.x_scale = 0.011f, b.x_zero = 100, b.y_zero = 30, b.offset = 128;
    SimdFor(isa).byte_mul(b);
    for (size_t i = 0; i < x.size(); ++i) {
      const double s = x[i] * 0.31 + y[i] * 0.27 - 20.3, p = (x[i] - 100) * (y[i] - 30) * 0.011 + 128;
      const auto held = [](double value) { return std::min(std::max(value, 3.0), 250.0); };
      // Half a step, and what single precision moves a tie by.
      ASSERT_NEAR(sum[i], held(s), 0.5001) << ToString(isa) << " " << i;
      ASSERT_NEAR(product[i], held(p), 0.5001) << ToString(isa) << " " << i;
    }
  }
}

}  // namespace
}  // namespace npustream::kernels
