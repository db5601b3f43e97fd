#pragma once

#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "dvpp/vdec/libav.h"

namespace npustream::dvpp {

// The decoder's pictures in the hands of the application, by the device address it knows them under. A picture that the
// stream shows twice is handed out twice and given back twice. Thread-safe.
class OwnedPictures {
 public:
  // The process's: acldvppFree has nothing but an address.
  static OwnedPictures& Instance();

  void HandOut(void* device, AvBuffer keep);
  // False when the address is none of them.
  bool GiveBack(void* device);
  size_t size() const;

 private:
  mutable Mutex mutex_;
  std::unordered_map<void*, std::vector<AvBuffer>> pictures_ NPUSTREAM_GUARDED_BY(mutex_);
};

}  // namespace npustream::dvpp
