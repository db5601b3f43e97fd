#pragma once

#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "elements/postprocess/box_decoder.h"

namespace npustream::elements::testing_support {

// A decoder with tensors of its outputs, all `fill`, to write single cells into.
struct DecoderFixture {
  serving::DecoderDescription description;
  std::vector<OutputShape> outputs;
  int width = 0, height = 0, classes = 0;
  std::unique_ptr<BoxDecoder> decoder;
  std::vector<std::vector<float>> tensors;

  void Create(float fill = 0) {
    auto made = BoxDecoder::Create(description, outputs, width, height, classes);
    ASSERT_TRUE(made.ok()) << made.status().message();
    decoder = std::move(made).value();
    for (const OutputShape& output : outputs) {
      int64_t count = 1;
      for (int64_t dim : output.dims) count *= dim;
      tensors.emplace_back(static_cast<size_t>(count), fill);
    }
  }

  std::vector<Detection> Decode(float threshold) const {
    std::vector<const float*> pointers;
    for (const std::vector<float>& tensor : tensors) pointers.push_back(tensor.data());
    std::vector<Detection> candidates;
    decoder->Decode(pointers, threshold, candidates);
    return candidates;
  }

  std::string CreateError() const {
    auto made = BoxDecoder::Create(description, outputs, width, height, classes);
    if (made.ok()) return "created";
    EXPECT_EQ(made.status().code(), StatusCode::kInvalidArgument);
    return made.status().message();
  }
};

inline void ExpectBox(const Detection& found, const Box& box, float tolerance = 1e-3f) {
  EXPECT_NEAR(found.box.x_min, box.x_min, tolerance);
  EXPECT_NEAR(found.box.y_min, box.y_min, tolerance);
  EXPECT_NEAR(found.box.x_max, box.x_max, tolerance);
  EXPECT_NEAR(found.box.y_max, box.y_max, tolerance);
}

}  // namespace npustream::elements::testing_support
