// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/handle_words.h"

#include <cstdint>
#include <cstdio>

#include "base/place.h"
#include "libdat/object/event_dispatcher.h"
#include "libdat/object/failure_text.h"
#include "libdat/object/handle_table.h"
#include "libdat/object/interface_adapter.h"
#include "libdat/object/memory_region.h"

namespace softdat::object {
namespace {

struct StreamName {
  Stream stream;
  const char* text;
};

constexpr StreamName kStreams[] = {
    {kSoftwareStream, "DAT_EVD_SOFTWARE_FLAG"}, {kCrStream, "DAT_EVD_CR_FLAG"},
    {kDtoStream, "DAT_EVD_DTO_FLAG"},           {kConnectionStream, "DAT_EVD_CONNECTION_FLAG"},
    {kRmrBindStream, "DAT_EVD_RMR_BIND_FLAG"},  {kAsyncStream, "DAT_EVD_ASYNC_FLAG"},
};

// "an EP", "a PZ".
std::string with_article(Kind kind) {
  const std::string name = name_of(kind);
  const bool is_vowel_heard = name != "CNO" && name != "CR" && name != "CSP" && name != "PSP" && name != "PZ";
  return (is_vowel_heard ? "an " : "a ") + name;
}

std::string pointer_text(const void* handle) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%zx", reinterpret_cast<std::size_t>(handle));
  return text;
}

std::string streams_text(const EventDispatcher& evd) {
  std::string text;
  for (const auto& [stream, name] : kStreams) {
    if (evd.streams().takes(stream)) text += (text.empty() ? "" : " | ") + std::string(name);
  }
  return text.empty() ? "" : " with evd_flags " + text;
}

std::string live_text(const void* handle, const HandleHistory& history, const InterfaceAdapter* ia) {
  std::string text = "that of " + with_article(history.kind);
  // The object may have ended since. Then the text lacks what only the object knows.
  const auto object = HandleTable::instance().pin_any(handle);
  if (object && object->kind() == Kind::kEvd) text += streams_text(static_cast<const EventDispatcher&>(*object));
  text += base::by_text("made", history.maker);
  const bool is_elsewhere = object && ia != nullptr && &object->ia() != ia;
  return is_elsewhere ? text + ", of another open adapter than the one of this call" : text;
}

std::string freed_text(const HandleHistory& history) {
  const char* const end = history.kind == Kind::kCr   ? "that was answered"
                          : history.kind == Kind::kIa ? "that was closed"
                                                      : "that was freed";
  std::string text = "that of " + with_article(history.kind);
  if (const std::string made = base::by_text("made", history.maker); !made.empty()) text += made + ',';
  text += std::string(" ") + end;
  const std::string place = base::place_text(history.freer);
  return place.empty() ? text : text + " by " + place;
}

std::string unknown_text(const void* handle) {
  // Handles of IAs are small integers of the registry (libdat2); all others are addresses.
  constexpr std::uintptr_t kLargestInteger = 65535;
  if (reinterpret_cast<std::uintptr_t>(handle) > kLargestInteger) {
    return pointer_text(handle) + ", which was never a handle of this process";
  }
  return pointer_text(handle) +
         ", which is that of no open adapter: dat_ia_close has ended it, or dat_ia_open never "
         "gave it";
}

}  // namespace

std::string handle_text(const void* handle, const InterfaceAdapter* ia) {
  if (handle == nullptr) return "null (DAT_HANDLE_NULL)";
  const HandleHistory history = HandleTable::instance().history(handle);
  switch (history.state) {
    case HandleHistory::State::kLive:
      return live_text(handle, history, ia);
    case HandleHistory::State::kFreed:
      return freed_text(history);
    case HandleHistory::State::kParents:
      return "that of " + with_article(history.kind) + " of the parent process" + base::by_text("made", history.maker) +
             "; a child made by fork() has none of its parent's objects, and opens its own adapter";
    case HandleHistory::State::kNone:
      break;
  }
  return unknown_text(handle);
}

std::string objects_text(const InterfaceAdapter& ia, const void* handle) {
  constexpr int kMost = 4;
  return list_live(kMost, [&](const Object& object, const void* maker, std::string&) {
    // Objects without a maker are the provider's own.
    return &object.ia() == &ia && object.handle() != handle && maker != nullptr;
  });
}

std::string object_text(const Object& object) {
  return std::string(name_of(object.kind())) + ' ' + pointer_text(object.handle());
}

std::string list_live(int most, const IsListed& is_listed) {
  std::string text;
  int count = 0;
  HandleTable::instance().for_each_live([&](const Object& object, const void* maker) {
    std::string note;
    if (!is_listed(object, maker, note) || ++count > most) return;
    text += (count == 1 ? "" : "; ") + object_text(object) + (note.empty() ? "" : " (" + note + ')') +
            base::by_text("made", maker);
  });
  if (count > most) text += "; and " + std::to_string(count - most) + " more";
  return text;
}

std::string segment_text(const InterfaceAdapter& ia, std::uint32_t lmr_context, std::uint64_t address,
                         std::uint64_t length) {
  char key[32];
  std::snprintf(key, sizeof key, "lmr_context 0x%x", lmr_context);
  std::string region;
  HandleTable::instance().for_each_live([&](const Object& object, const void* maker) {
    if (object.kind() != Kind::kLmr || &object.ia() != &ia) return;
    const MemoryRegionParameters& lmr = static_cast<const MemoryRegion&>(object).query();
    if (lmr.lmr_context == lmr_context)
      region = range_text(lmr.address, lmr.length) + base::by_text("registered", maker);
  });
  const std::string asked = "the range asked for is " + range_text(address, length);
  if (region.empty()) return std::string(key) + " is that of no live LMR of this adapter; " + asked;
  return asked + ", but " + key + " is that of the region " + region;
}

}  // namespace softdat::object
