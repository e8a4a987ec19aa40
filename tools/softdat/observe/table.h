// SPDX-License-Identifier: BSD-2-Clause
// What `softdat top` shows, as rows of text: no terminal is known here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/softdat/observe/scan.h"

namespace softdat::tools::observe {

struct Cell {
  std::string text;
  double value = 0;  // what a column of numbers is sorted by
};

struct Column {
  const char* name;
  bool is_number;
};

struct Row {
  std::vector<Cell> cells;  // one a column
  pid_t pid = 0;
  std::uint64_t start = 0;     // of the process, in a table of processes
  std::uint64_t endpoint = 0;  // of a row that is one
};

struct Table {
  std::vector<Column> columns;
  std::vector<Row> rows;
};

// The names of the columns, in lower case: for --sort.
std::vector<std::string> process_columns();

// One row a process, or one an endpoint of the process. `before` is an earlier scan, for the rates; without the process
// in it they are 0.
Table process_table(const std::vector<Process>& now, const std::vector<Process>& before);
Table endpoint_table(const Process& now, const std::vector<Process>& before);

// All that is known of an endpoint, its last failures at the end; a line a fact. Empty if it is gone.
std::vector<std::string> endpoint_lines(const Process& process, std::uint64_t endpoint);

// Largest first for numbers, alphabetically for texts; `is_reversed` turns it round. Equal rows keep their order.
void sort_rows(Table& table, std::size_t column, bool is_reversed);
// Keeps the rows in which a cell contains the text, in upper or lower case.
void filter_rows(Table& table, const std::string& text);

// The heading and the rows, aligned.
std::vector<std::string> lines_of(const Table& table);

// "512", "12.3k", "4.56M"
std::string short_number(double value);
// "5s", "3m12s", "2h05m", "4d03h"
std::string short_time(double seconds);

}  // namespace softdat::tools::observe
