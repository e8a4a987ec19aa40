// SPDX-License-Identifier: BSD-2-Clause
// Memory that two processes of a test map and register under one cookie.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "tests/conformance/answers.h"

namespace softdat::conformance {

inline std::string shared_name(std::uint64_t number) {
  return "/softdat-conformance-" + std::to_string(number);
}

// Stays mapped until the process ends.
inline unsigned char* map_shared(std::uint64_t number, std::size_t length) {
  const int fd = shm_open(shared_name(number).c_str(), O_RDWR | O_CREAT, S_IRUSR | S_IWUSR);
  if (fd < 0 || ftruncate(fd, static_cast<off_t>(length)) != 0) throw SetupFailure("shm_open");
  void* at = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (at == MAP_FAILED) throw SetupFailure("mmap");
  return static_cast<unsigned char*>(at);
}

// Registered as DAT_MEM_TYPE_SHARED_VIRTUAL; lives as long as its adapter.
struct SharedRegion {
  SharedRegion(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, unsigned char* at, std::size_t length, std::uint64_t number) {
    char cookie[DAT_LMR_COOKIE_SIZE] = {};
    std::memcpy(cookie, &number, sizeof number);
    DAT_REGION_DESCRIPTION region{};
    region.for_shared_memory.virtual_address = at;
    region.for_shared_memory.shared_memory_id = &cookie;
    answer = create_lmr(ia, DAT_MEM_TYPE_SHARED_VIRTUAL, region, length, pz, DAT_MEM_PRIV_ALL_FLAG, &lmr, &lmr_context,
                        &rmr_context, nullptr, nullptr);
  }

  DAT_RETURN answer = DAT_SUCCESS;
  DAT_LMR_HANDLE lmr = DAT_HANDLE_NULL;
  DAT_LMR_CONTEXT lmr_context = 0;
  DAT_RMR_CONTEXT rmr_context = 0;
};

}  // namespace softdat::conformance
