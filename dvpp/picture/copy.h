#pragma once

#include "dvpp/picture/picture.h"

namespace npustream::dvpp {

// Copies the samples of all planes. Both pictures have one format and size and share no memory.
void CopyPicture(const PictureView& from, const PictureView& into);

}  // namespace npustream::dvpp
