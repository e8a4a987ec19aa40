// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/event_names.h"

#include <gtest/gtest.h>

namespace softdat::tools {
namespace {

TEST(EventNames, AnEventHasItsNameAndItsMeaning) {
  EXPECT_EQ(event_text(DAT_CONNECTION_EVENT_UNREACHABLE), "DAT_CONNECTION_EVENT_UNREACHABLE (no way to the address)");
  EXPECT_EQ(event_text(DAT_DTO_COMPLETION_EVENT), "DAT_DTO_COMPLETION_EVENT (an operation has completed)");
}

TEST(EventNames, EveryConnectionEventHasAName) {
  for (int number = DAT_CONNECTION_EVENT_ESTABLISHED; number <= DAT_CONNECTION_EVENT_UNREACHABLE; ++number) {
    EXPECT_EQ(event_text(static_cast<DAT_EVENT_NUMBER>(number)).rfind("DAT_CONNECTION_EVENT_", 0), 0u) << number;
  }
}

TEST(EventNames, EveryStatusHasAName) {
  for (int status = DAT_DTO_SUCCESS; status <= DAT_DTO_ERR_LOCAL_MM_ERROR; ++status) {
    EXPECT_EQ(completion_status_text(static_cast<DAT_DTO_COMPLETION_STATUS>(status)).rfind("DAT_", 0), 0u) << status;
  }
}

TEST(EventNames, ANumberWithoutANameIsTold) {
  EXPECT_EQ(event_text(static_cast<DAT_EVENT_NUMBER>(0x7abc)), "unknown event 0x7abc");
  EXPECT_EQ(completion_status_text(static_cast<DAT_DTO_COMPLETION_STATUS>(15)), "unknown status 15");
}

}  // namespace
}  // namespace softdat::tools
