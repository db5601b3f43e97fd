#pragma once

#include <cstddef>
#include <cstdint>

// Moving bytes, and elements of two bytes, between planes, one for each channel, and groups of channels that lie side by
// side for each pixel.
namespace npustream::kernels {

// [pixel][4] from up to four planes that lie `pixels` apart; channels that are not there become zero.
void JoinFourPlanes(const uint8_t* planes, size_t channels, size_t pixels, uint8_t* to);
// The same of elements of two bytes, from planes that lie `plane_step` apart.
void JoinFourPlanes(const uint16_t* planes, size_t channels, size_t plane_step, size_t pixels, uint16_t* to);
// The first `channels` of [pixel][16] to planes that lie `plane_step` apart.
void SplitSixteenPlanes(const uint8_t* from, size_t channels, size_t pixels, uint8_t* planes, size_t plane_step);

}  // namespace npustream::kernels
