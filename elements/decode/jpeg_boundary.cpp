#include "elements/decode/jpeg_boundary.h"

#include <algorithm>

namespace npustream::elements {
namespace {

constexpr unsigned kStuffing = 0x00, kTemporary = 0x01, kRestart0 = 0xd0, kStartOfImage = 0xd8, kEndOfImage = 0xd9;

bool HasNoLength(unsigned code) {
  return code == kStuffing || code == kTemporary || (code >= kRestart0 && code <= kStartOfImage);
}

}  // namespace

bool JpegBoundary::EndsWith(unsigned byte) {
  switch (state_) {
    case State::kData:
      if (byte == 0xff) state_ = State::kCode;
      break;
    case State::kCode:
      if (byte == 0xff) break;  // fill bytes may stand in front of a code
      state_ = byte == kEndOfImage || HasNoLength(byte) ? State::kData : State::kLengthHigh;
      return byte == kEndOfImage;
    case State::kLengthHigh:
      length_ = byte << 8;
      state_ = State::kLengthLow;
      break;
    case State::kLengthLow:
      length_ = std::max<size_t>(length_ | byte, 2) - 2;
      state_ = length_ > 0 ? State::kSegment : State::kData;
      break;
    case State::kSegment:
      if (--length_ == 0) state_ = State::kData;
      break;
  }
  return false;
}

std::optional<size_t> JpegBoundary::Scan(std::span<const std::byte> bytes) {
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (EndsWith(std::to_integer<unsigned>(bytes[i]))) return i + 1;
  }
  return std::nullopt;
}

}  // namespace npustream::elements
