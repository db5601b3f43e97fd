#include "elements/decode/stream_formats.h"

namespace npustream::elements {
namespace {

// Byte streams come first: they are what the cards' decoders take, so parsers turn to them when they can.
constexpr StreamFormat kFormats[] = {
    {"video/x-h264, stream-format=(string)byte-stream, alignment=(string)au", 3, false},
    {"video/x-h265, stream-format=(string)byte-stream, alignment=(string)au", 0, false},
    {"video/x-h264, stream-format=(string){ avc, avc3 }, alignment=(string)au", 0x1000, true},
    {"video/x-h265, stream-format=(string){ hvc1, hev1 }, alignment=(string)au", 0x1001, true},
    {"image/jpeg", 0x1002, false},
    {"image/png", 0x1003, false},
    {"video/mpeg, mpegversion=(int)4, systemstream=(boolean)false", 0x1004, true},
    {"video/x-divx, divxversion=(int)[ 4, 5 ]", 0x1004, true},
    {"video/x-xvid", 0x1004, true},
    {"video/mpeg, mpegversion=(int)2, systemstream=(boolean)false", 0x1005, true},
    {"video/mpeg, mpegversion=(int)1, systemstream=(boolean)false", 0x100E, true},
    {"video/x-vp8", 0x1006, false},
    {"video/x-vp9", 0x1007, false},
    {"video/x-av1", 0x1008, true},
    {"image/bmp", 0x1009, false},
    {"image/webp", 0x100A, false},
    {"image/gif", 0x100B, false},
    {"image/tiff", 0x100C, false},
    {"video/x-h263, variant=(string)itu", 0x100D, false},
    {"video/x-msmpeg, msmpegversion=(int)43", 0x100F, false},
    {"video/x-divx, divxversion=(int)3", 0x100F, false},
    {"video/x-wmv, wmvversion=(int)3, format=(string)WMV3", 0x1010, true},
    {"video/x-wmv, wmvversion=(int)3, format=(string){ WVC1, WMVA }", 0x1011, true},
    {"video/x-flash-video, flvversion=(int)1", 0x1012, false},
    {"video/x-theora", 0x1013, true},
    {"video/x-prores", 0x1014, false},
    {"video/x-dnxhd", 0x1015, false},
    {"image/x-jpc", 0x1016, false},
    {"image/jp2", 0x1016, false},
    {"image/x-portable-anymap", 0x1017, false},
};

}  // namespace

std::span<const StreamFormat> StreamFormats() { return kFormats; }

}  // namespace npustream::elements
