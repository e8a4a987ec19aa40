// SPDX-License-Identifier: BSD-2-Clause
// What a person is told about a failure: one line for each cause on standard error, with the process id; the same line
// again is counted, and told at its second, tenth, hundredth ... time and when the process ends.
// docs/decisions/0020-words-instead-of-codes.md.
#pragma once

#include <cstdint>
#include <string>

namespace softdat::base {

// Whether a line that recurs is printed its `times`th time: the first, second, tenth, hundredth ...
bool is_told(std::uint64_t times);

// SOFTDAT_LOG is notice or trace.
bool are_words_wanted();

// Prints the sentence if words are wanted. Any thread, which may hold locks of other rooms, but none of this room.
void say(const std::string& sentence);

// Prints the sentence, and counts it, whether words are wanted or not. Any thread, as say(). Throws std::bad_alloc.
void say_counted(const std::string& sentence);

// Prints the sentence with the process id at once: it is neither counted nor asked whether words are wanted. Keeps
// errno. Throws std::bad_alloc.
void print_sentence(const std::string& sentence);

// "server (process 4711 on HOST)": this process, as its peers are told.
std::string process_text();

}  // namespace softdat::base
