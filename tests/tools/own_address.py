# SPDX-License-Identifier: BSD-2-Clause
"""Tests run at the same time, and listen for the same services: each process has loopback addresses of its own."""
import ipaddress
import os


def own_loopback_address(number):
    """Another for each number from 0 to 3, as tests/own_address.h has it for programs."""
    return str(ipaddress.IPv4Address(0x7f000000 | (number & 3) << 22 | os.getpid() & 0x3fffff))


def own_port():
    """Below the ports that the kernel gives to connections (32768), and above those that services with long numbers share
    (docs/WIRE.md, "Ports")."""
    return 30000 + os.getpid() % 2700
