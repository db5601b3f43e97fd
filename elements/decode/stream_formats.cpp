#include "elements/decode/stream_formats.h"

namespace npustream::elements {
namespace {

// Byte streams come first: they are what the cards' decoders take, so parsers turn to them when they can.
constexpr StreamFormat kFormats[] = {
    {"video/x-h264, stream-format=(string)byte-stream, alignment=(string)au", 3, false, false},
    {"video/x-h265, stream-format=(string)byte-stream, alignment=(string)au", 0, false, false},
    {"video/x-h264, stream-format=(string){ avc, avc3 }, alignment=(string)au", 0x1000, true, false},
    {"video/x-h265, stream-format=(string){ hvc1, hev1 }, alignment=(string)au", 0x1001, true, false},
    {"image/jpeg", 0x1002, false, true},
    {"image/png", 0x1003, false, true},
    {"video/mpeg, mpegversion=(int)4, systemstream=(boolean)false", 0x1004, true, false},
    {"video/x-divx, divxversion=(int)[ 4, 5 ]", 0x1004, true, false},
    {"video/x-xvid", 0x1004, true, false},
    {"video/mpeg, mpegversion=(int)2, systemstream=(boolean)false", 0x1005, true, false},
    {"video/mpeg, mpegversion=(int)1, systemstream=(boolean)false", 0x100E, true, false},
    {"video/x-vp8", 0x1006, false, false},
    {"video/x-vp9", 0x1007, false, false},
    {"video/x-av1", 0x1008, true, false},
    {"image/bmp", 0x1009, false, true},
    {"image/webp", 0x100A, false, true},
    {"image/gif", 0x100B, false, true},
    {"image/tiff", 0x100C, false, true},
    {"video/x-h263, variant=(string)itu", 0x100D, false, false},
    {"video/x-msmpeg, msmpegversion=(int)43", 0x100F, false, false},
    {"video/x-divx, divxversion=(int)3", 0x100F, false, false},
    {"video/x-wmv, wmvversion=(int)3, format=(string)WMV3", 0x1010, true, false},
    {"video/x-wmv, wmvversion=(int)3, format=(string){ WVC1, WMVA }", 0x1011, true, false},
    {"video/x-flash-video, flvversion=(int)1", 0x1012, false, false},
    {"video/x-theora", 0x1013, true, false},
    {"video/x-prores", 0x1014, false, false},
    {"video/x-dnxhd", 0x1015, false, false},
    {"image/x-jpc", 0x1016, false, true},
    {"image/jp2", 0x1016, false, true},
    {"image/x-portable-anymap", 0x1017, false, true},
};

}  // namespace

std::span<const StreamFormat> StreamFormats() { return kFormats; }

}  // namespace npustream::elements
