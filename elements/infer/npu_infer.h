#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include "base/mutex.h"
#include "base/status.h"
#include "runtime/serving/model_runner.h"

namespace npustream::elements {

// Puts results back into order: items leave in the order in which they came, an item with a request once its response
// is there. Between a thread that adds (the sink pad's) and one that takes (the source pad's). Thread-safe.
class OrderedResults {
 public:
  // Whatever travels: a buffer, an event, with the function that lets go of it.
  using Payload = std::unique_ptr<void, void (*)(void*)>;

  struct Item {
    Payload payload{nullptr, nullptr};
    std::optional<serving::InferenceResponse> response;  // nothing for items without a request
  };

  enum class Outcome {
    kAccepted,
    kFull,     // only with Wait::kNo: nothing was added
    kStopped,  // flushing
  };
  enum class Wait { kYes, kNo };

  // `max_in_flight` ≥ 1: items with a request that may be inside; other items are bounded by what is between them (8
  // times as many).
  explicit OrderedResults(size_t max_in_flight);

  // Adds an item that needs no response; blocks while too many wait, unless `urgent` (events). `payload` is taken only
  // when the outcome is kAccepted, here and below.
  Outcome Add(Payload& payload, bool urgent);
  // Reserves the item's place and submits `request` (its `done` is set here) to `runner`. `status` is the runner's
  // refusal, if any; the item is dropped then.
  Outcome Submit(Payload& payload, serving::ModelRunner& runner, serving::InferenceRequest request, Wait wait,
                 Status& status);
  // The oldest item once it is done; nothing when stopped.
  std::optional<Item> Take();

  // Drops everything; waiting calls return, as do later ones until Start.
  void Stop();
  void Start();
  // Waits until everything added so far has been taken or dropped.
  void WaitEmpty();
  size_t in_flight() const;

 private:
  struct Slot {
    Item item;
    bool requested = false;
    bool done = false;
  };
  struct Shared;  // what responses that come late still find
  const size_t max_in_flight_;
  std::shared_ptr<Shared> shared_;
};

}  // namespace npustream::elements
