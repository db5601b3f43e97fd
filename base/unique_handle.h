#pragma once

#include <memory>

namespace npustream {

// Turns a C release function into a deleter: `UniqueHandle<AVFrame, FreeFrame>`.
template <auto kRelease>
struct ReleaseWith {
  template <typename T>
  void operator()(T* handle) const {
    kRelease(handle);
  }
};

// A unique_ptr of the size of a pointer which gives a C handle back with `kRelease(T*)`.
template <typename T, auto kRelease>
using UniqueHandle = std::unique_ptr<T, ReleaseWith<kRelease>>;

}  // namespace npustream
