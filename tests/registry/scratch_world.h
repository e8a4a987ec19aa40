// SPDX-License-Identifier: BSD-2-Clause
// What the tests of one registry library share: its headers, the dat.conf they all run under, and
// the notes that the scratch provider sends.
#pragma once

#if SOFTDAT_ABI == 20
#include <dat2/udat.h>
//
#include <dat2/dat_registry.h>
#else
#include <dat/udat.h>
//
#include <dat/dat_registry.h>
#endif

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#if SOFTDAT_ABI == 20
extern "C" DAT_RETURN dats_get_ia_handle(DAT_IA_HANDLE handle, DAT_IA_HANDLE* other);
#endif

namespace softdat::registry {

#if SOFTDAT_ABI == 20
inline constexpr DAT_UINT32 kMajor = 2;
inline constexpr DAT_UINT32 kMinor = 0;
inline constexpr const char* kApi = "u2.0";
inline constexpr const char* kNewerApi = "u2.1";
inline constexpr const char* kOtherApi = "u1.2";
#else
inline constexpr DAT_UINT32 kMajor = 1;
inline constexpr DAT_UINT32 kMinor = 2;
inline constexpr const char* kApi = "u1.2";
inline constexpr const char* kNewerApi = "u1.3";
inline constexpr const char* kOtherApi = "u2.0";
#endif

// "u2.0" without its letter.
inline const std::string kVersion = std::string(kApi).substr(1);

inline DAT_RETURN error_of(DAT_RETURN_TYPE type, DAT_RETURN_SUBTYPE subtype = DAT_NO_SUBTYPE) {
  return DAT_CLASS_ERROR | static_cast<DAT_RETURN>(type) | static_cast<DAT_RETURN>(subtype);
}
inline const DAT_RETURN kOk = DAT_SUCCESS;
inline const DAT_RETURN kNotFound = error_of(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED);

// One dat.conf line for a library that the build made.
std::string conf_line(const std::string& name, const std::string& library, const std::string& data,
                      const std::string& api = kApi);

// The path of such a library; one that does not exist for any other name.
std::string built_library(const std::string& library);

// The number of entries in the dat.conf of these tests.
int conf_entry_count();

// The notes since the last call, in order.
std::vector<std::string> take_notes();

// What the scratch provider "owner" has done in forks, the last four things: 'p' before one, 'f' in the parent, 'c' in
// the child.
inline std::atomic<std::uint32_t> fork_stages{0};
constexpr std::uint32_t last_two(std::uint32_t stages) {
  return stages & 0xffff;
}

// While one lives, the thread that sends this note stands still in it, in the midst of the provider's code.
class NoteHold {
 public:
  explicit NoteHold(const std::string& note);
  ~NoteHold() { end(); }
  NoteHold(const NoteHold&) = delete;
  NoteHold& operator=(const NoteHold&) = delete;

  // Waits until a thread stands there.
  void await();
  // Lets the thread go on.
  void end();
};

// An IA of the scratch provider, opened and closed with the test. Requires that the name opens.
struct ScratchIa {
  explicit ScratchIa(const char* ia_name);
  ~ScratchIa();
  ScratchIa(const ScratchIa&) = delete;
  ScratchIa& operator=(const ScratchIa&) = delete;

  DAT_IA_HANDLE handle = nullptr;
  DAT_EVD_HANDLE evd = nullptr;
};

struct Opened {
  DAT_RETURN status;
  DAT_IA_HANDLE ia;
  DAT_EVD_HANDLE evd;
};
Opened open_ia(const std::string& name, DAT_UINT32 major = kMajor, DAT_UINT32 minor = kMinor,
               DAT_BOOLEAN is_thread_safe = DAT_FALSE);

}  // namespace softdat::registry
