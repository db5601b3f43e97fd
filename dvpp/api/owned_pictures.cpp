#include "dvpp/api/owned_pictures.h"

#include <utility>

namespace npustream::dvpp {

OwnedPictures& OwnedPictures::Instance() {
  static auto* instance = new OwnedPictures;  // never destroyed: threads may outlive static objects
  return *instance;
}

void OwnedPictures::HandOut(void* device, AvBuffer keep) {
  MutexLock lock(mutex_);
  pictures_[device].push_back(std::move(keep));
}

bool OwnedPictures::GiveBack(void* device) {
  AvBuffer released;  // after the lock: giving memory back to its pool takes others
  MutexLock lock(mutex_);
  const auto found = pictures_.find(device);
  if (found == pictures_.end()) return false;
  released = std::move(found->second.back());
  found->second.pop_back();
  if (found->second.empty()) pictures_.erase(found);
  lock.Unlock();
  return true;
}

size_t OwnedPictures::size() const {
  MutexLock lock(mutex_);
  return pictures_.size();
}

}  // namespace npustream::dvpp
