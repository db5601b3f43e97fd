#pragma once

#include <cassert>
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace npustream::device {

template <typename Signature, size_t kCapacity>
class InlineFunction;

// A move-only std::function which holds callables of up to `kCapacity` bytes in itself, so that handing one over does
// not allocate. Larger ones go to the heap.
template <typename R, typename... Args, size_t kCapacity>
class InlineFunction<R(Args...), kCapacity> {
 public:
  InlineFunction() = default;

  template <typename F>
  requires(!std::is_same_v<std::decay_t<F>, InlineFunction> && std::is_invocable_r_v<R, std::decay_t<F>&, Args...>)
      InlineFunction(F&& callable) {  // NOLINT: implicit by design, as std::function is
    using Callable = std::decay_t<F>;
    if constexpr (kFits<Callable>) {
      ::new (storage_) Callable(std::forward<F>(callable));
      operations_ = &kInlineOperations<Callable>;
    } else {
      ::new (storage_) std::unique_ptr<Callable>(std::make_unique<Callable>(std::forward<F>(callable)));
      operations_ = &kHeapOperations<Callable>;
    }
  }

  InlineFunction(InlineFunction&& other) noexcept { TakeFrom(other); }
  InlineFunction& operator=(InlineFunction&& other) noexcept {
    if (this != &other) {
      Reset();
      TakeFrom(other);
    }
    return *this;
  }
  ~InlineFunction() { Reset(); }

  // Destroys the callable and what it holds.
  void Reset() {
    if (const Operations* operations = std::exchange(operations_, nullptr)) operations->destroy(storage_);
  }

  explicit operator bool() const { return operations_ != nullptr; }
  R operator()(Args... args) {
    assert(operations_ != nullptr);
    return operations_->call(storage_, std::forward<Args>(args)...);
  }

  template <typename Callable>
  static constexpr bool kFits =
      sizeof(Callable) <= kCapacity &&
      alignof(Callable) <= alignof(std::max_align_t) && std::is_nothrow_move_constructible_v<Callable>;

 private:
  struct Operations {
    R (*call)(void* storage, Args... args);
    void (*move)(void* from, void* to);  // leaves nothing behind that has to be destroyed
    void (*destroy)(void* storage);
  };

  template <typename Stored>
  static void Move(void* from, void* to) {
    Stored* source = std::launder(reinterpret_cast<Stored*>(from));
    ::new (to) Stored(std::move(*source));
    source->~Stored();
  }
  template <typename Stored>
  static void Destroy(void* storage) {
    std::launder(reinterpret_cast<Stored*>(storage))->~Stored();
  }

  template <typename Callable>
  static constexpr Operations kInlineOperations = {
      [](void* storage, Args... args) -> R {
        return (*std::launder(reinterpret_cast<Callable*>(storage)))(std::forward<Args>(args)...);
      },
      &Move<Callable>, &Destroy<Callable>};

  template <typename Callable>
  static constexpr Operations kHeapOperations = {
      [](void* storage, Args... args) -> R {
        return (**std::launder(reinterpret_cast<std::unique_ptr<Callable>*>(storage)))(std::forward<Args>(args)...);
      },
      &Move<std::unique_ptr<Callable>>, &Destroy<std::unique_ptr<Callable>>};

  void TakeFrom(InlineFunction& other) {
    operations_ = std::exchange(other.operations_, nullptr);
    if (operations_ != nullptr) operations_->move(other.storage_, storage_);
  }

  alignas(std::max_align_t) std::byte storage_[kCapacity];
  const Operations* operations_ = nullptr;
};

}  // namespace npustream::device
