/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/abi/set_checks.inc"
