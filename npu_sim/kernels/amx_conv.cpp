#include "npu_sim/kernels/amx_conv.h"

#include "npu_sim/kernels/byte_planes.h"
#include "npu_sim/om/float16.h"

namespace npustream::kernels {
namespace {

// A band that is gathered stays in the second-level cache while all result channels pass over it.
constexpr int64_t kBandBytes = 512 * 1024;

// Residues of the taps' offsets by the stride, ascending.
std::vector<int64_t> PhasesOf(int64_t taps, int64_t dilation, int64_t stride) {
  std::vector<int64_t> phases;
  for (int64_t phase = 0; phase < stride; ++phase) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      if (tap * dilation % stride != phase) continue;
      phases.push_back(phase);
      break;
    }
  }
  return phases;
}

// Channels that lie side by side: all of a picture or of few groups, else what one instruction takes.
int64_t ChunkChannels(int64_t channels, int64_t element) {
  for (const int64_t fit : {4, 16, 32}) {
    if (channels <= fit) return fit;
  }
  return AmxCut::kDepth / element;
}

int64_t IndexOf(const std::vector<int64_t>& phases, int64_t phase) {
  return std::find(phases.begin(), phases.end(), phase) - phases.begin();
}

}  // namespace

AmxCut::AmxCut(const ConvShape& s, om::Layout source, int64_t element_bytes)
    : element(element_bytes),
      in_block(om::BlockOf(source)),
      in_groups(GroupsOf(s.ic / s.groups, in_block)),
      out_groups(GroupsOf(s.oc / s.groups, kBlock)),
      channels(ChunkChannels(in_groups * in_block, element)),
      chunks(GroupsOf(in_groups * in_block, channels)),
      step_taps(s.dilation_w == 1 ? std::min(s.kw, kDepth / (channels * element)) : 1),
      row_steps(GroupsOf(s.kw, step_taps)),
      row_phases(PhasesOf(s.kh, s.dilation_h, s.stride_h)),
      column_step(s.kw == 1 ? s.stride_w : 1),
      column_stride(s.stride_w / column_step),
      columns(s.ow + (s.kw - 1) * s.dilation_w / column_stride) {
  const int64_t more_rows = (s.kh - 1) * s.dilation_h / s.stride_h;
  const int64_t row_bytes = chunks * RowBytes() * static_cast<int64_t>(row_phases.size());
  band_rows = std::clamp<int64_t>(kBandBytes / row_bytes - more_rows, 1, s.oh);
  plane_rows = band_rows + more_rows;
}

namespace {

// `store(weight)` makes what is packed of a weight.
template <typename Weight, typename Packed, typename Store>
void Pack(const ConvShape& s, const AmxCut& cut, const Weight* plain, Packed* to, Store store) {
  const int64_t ic = s.ic / s.groups, oc = s.oc / s.groups, places = AmxCut::kDepth / cut.element,
                together = 4 / cut.element;
  const auto weight = [&](int64_t g, int64_t o, int64_t i, int64_t kh, int64_t kw) {
    return o < oc && i < ic && kw < s.kw ? plain[(((g * oc + o) * ic + i) * s.kh + kh) * s.kw + kw] : Weight{};
  };
  for (int64_t g = 0; g < s.groups; ++g) {
    for (int64_t pair = 0; pair < cut.out_groups; pair += 2) {
      const int64_t pair_end = std::min(pair + 2, cut.out_groups);
      for (int64_t step = 0; step < cut.Steps(s); ++step) {
        const int64_t chunk = step / (s.kh * cut.row_steps), kh = step / cut.row_steps % s.kh,
                      kw = step % cut.row_steps * cut.step_taps;
        for (int64_t group = pair; group < pair_end; ++group) {
          for (int64_t place = 0; place < places * AmxCut::kBlock; ++place) {
            const int64_t o = place / together % AmxCut::kBlock,
                          depth = place / together / AmxCut::kBlock * together + place % together;
            const int64_t tap = depth / cut.channels, i = chunk * cut.channels + depth % cut.channels;
            *to++ = store(tap < cut.step_taps ? weight(g, group * AmxCut::kBlock + o, i, kh, kw + tap) : Weight{});
          }
        }
      }
    }
  }
}

}  // namespace

void PackAmx(const ConvShape& s, const AmxCut& cut, const int8_t* plain, int8_t* to) {
  Pack(s, cut, plain, to, [](int8_t weight) { return weight; });
}

void PackAmx(const ConvShape& s, const AmxCut& cut, const float* plain, uint16_t* to) {
  Pack(s, cut, plain, to, om::ToBFloat16);
}

template <typename Source, typename Sum>
AmxDriver<Source, Sum>::AmxDriver(const ConvShape& s, om::Layout source, const SimdTable& simd, BlockFunction block,
                                  Source padding)
    : s_(s),
      cut_(s, source, sizeof(Gathered)),
      simd_(&simd),
      block_(block),
      padding_(static_cast<Gathered>(padding)) {
  for (int64_t step = 0; step < cut_.Steps(s); ++step) {
    const int64_t chunk = step / (s.kh * cut_.row_steps), kh = step / cut_.row_steps % s.kh * s.dilation_h,
                  kw = step % cut_.row_steps * cut_.step_taps * s.dilation_w;
    offsets_.push_back(static_cast<int32_t>(
        chunk * cut_.ChunkBytes() + IndexOf(cut_.row_phases, kh % s.stride_h) * cut_.PlaneBytes() +
        kh / s.stride_h * cut_.RowBytes() + kw * cut_.channels * cut_.element));
  }
}

template <typename Source, typename Sum>
void AmxDriver<Source, Sum>::Gather(const Source* x, int64_t first, int64_t rows, std::byte* to) const {
  const int64_t in_rows = rows + cut_.plane_rows - cut_.band_rows, chunk_groups = cut_.channels / cut_.in_block;
  for (int64_t chunk = 0; chunk < cut_.chunks; ++chunk) {
    const int64_t group = chunk * chunk_groups;
    std::byte* plane = to + chunk * cut_.ChunkBytes();
    for (const int64_t row_phase : cut_.row_phases) {
      for (int64_t r = 0; r < in_rows; ++r) {
        const int64_t row = (first + r) * s_.stride_h + row_phase - s_.pad_top;
        GatherRow(x, group, std::min(chunk_groups, cut_.in_groups - group), row,
                  reinterpret_cast<Gathered*>(plane + r * cut_.RowBytes()));
      }
      plane += cut_.PlaneBytes();
    }
  }
}

// One row of a plane. Channels beyond the last group have weights of zero; bytes may be anything there, but not floats,
// as zero times infinity is none.
template <typename Source, typename Sum>
void AmxDriver<Source, Sum>::GatherRow(const Source* x, int64_t group, int64_t groups, int64_t row, Gathered* to) const {
  const int64_t columns = cut_.columns * cut_.column_stride, step = cut_.column_step, channels = cut_.channels;
  if (row < 0 || row >= s_.ih) {
    std::fill_n(to, columns * channels, padding_);
    return;
  }
  const bool picture = std::is_same_v<Source, float> && cut_.in_block == 1 && step == 1;
  if (sizeof(Gathered) > 1 && groups * cut_.in_block < channels && !picture)
    std::fill_n(to, columns * channels, padding_);
  // Gathered columns whose source lies in the picture.
  const int64_t first = std::min(columns, (s_.pad_left + step - 1) / step);
  const int64_t last = std::clamp<int64_t>((s_.iw - 1 + s_.pad_left) / step + 1, first, columns);
  std::fill_n(to, first * channels, padding_);
  std::fill_n(to + last * channels, (columns - last) * channels, padding_);
  const int64_t block = cut_.in_block, group_step = s_.ih * s_.iw * block;
  const Source* from = x + ((group * s_.ih + row) * s_.iw + first * step - s_.pad_left) * block;
  if constexpr (std::is_same_v<Source, float>) {
    if (picture) return CopyPicture(from, group_step, groups, to + first * channels, last - first);
  }
  for (int64_t g = 0; g < groups; ++g, from += group_step) Copy(from, step, to + first * channels + g * block, last - first);
}

// Up to four planes become pixels of four channels.
template <typename Source, typename Sum>
void AmxDriver<Source, Sum>::CopyPicture(const float* from, int64_t plane_step, int64_t planes, uint16_t* to,
                                         int64_t pixels) const {
  constexpr int64_t kAtOnce = 256, kLanes = 16;
  uint16_t rounded[4 * kAtOnce];
  for (int64_t first = 0; first < pixels; first += kAtOnce) {
    const int64_t count = std::min(kAtOnce, pixels - first), whole = count / kLanes * kLanes;
    for (int64_t plane = 0; plane < planes; ++plane) {
      const float* const row = from + plane * plane_step + first;
      uint16_t* const target = rounded + plane * kAtOnce;
      simd_->to_bf16(row, kLanes, target, kLanes, whole / kLanes, kLanes);
      simd_->to_bf16(row + whole, 1, target + whole, 1, count - whole, 1);
    }
    JoinFourPlanes(rounded, static_cast<size_t>(planes), kAtOnce, static_cast<size_t>(count), to + 4 * first);
  }
}

// A group's channels of some pixels that lie `step` pixels apart.
template <typename Source, typename Sum>
void AmxDriver<Source, Sum>::Copy(const Source* from, int64_t step, Gathered* to, int64_t pixels) const {
  const int64_t block = cut_.in_block, channels = cut_.channels;
  if constexpr (std::is_same_v<Source, float>) {
    simd_->to_bf16(from, step * block, to, channels, pixels, block);
  } else if (channels == block && step == 1) {
    std::memcpy(to, from, static_cast<size_t>(pixels * block) * sizeof(Source));
  } else if (block == AmxCut::kBlock) {
    // A size that is known makes one move of it.
    for (int64_t i = 0; i < pixels; ++i)
      std::memcpy(to + i * channels, from + i * step * AmxCut::kBlock, AmxCut::kBlock * sizeof(Source));
  } else {
    for (int64_t i = 0; i < pixels; ++i)
      std::memcpy(to + i * channels, from + i * step * block, static_cast<size_t>(block) * sizeof(Source));
  }
}

template class AmxDriver<uint8_t, int32_t>;
template class AmxDriver<float, float>;
template class AmxDriver<uint16_t, float>;

}  // namespace npustream::kernels
