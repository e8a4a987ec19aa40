// SPDX-License-Identifier: BSD-2-Clause
// A capture of the loopback interface by dumpcap, read by tshark: what other people's tools see of our wire.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

namespace softdat::wire {

// Everything that `command` prints on standard output; its errors are dropped.
std::string output_of(const std::string& command);

class Capture {
 public:
  // Captures TCP on lo into a scratch file, and has begun to when the constructor returns; else is_running() is false
  // and why() tells the reason.
  Capture();
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  bool is_running() const { return pid_ > 0; }
  const std::string& why() const { return why_; }

  // What tshark prints of the packets so far, with these further arguments.
  std::string decode(const std::string& arguments) const;

 private:
  bool await_start(int from_dumpcap);

  pid_t pid_ = -1;
  std::string directory_;
  std::string why_;
};

}  // namespace softdat::wire
