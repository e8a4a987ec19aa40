# SPDX-License-Identifier: BSD-2-Clause
# Sourced by every job in the guest: the network and the verbs devices. A pair of virtual Ethernet ends makes a netdev
# that is up without hardware. DEVICE is none, rxe, siw, or both.
#
#   DEVICE   netdev v0 (10.77.0.1, fd00:77::1)   netdev w0 (10.78.0.1, fd00:78::1)
#   none     -                                   -
#   rxe      rxe0                                -
#   siw      siw0                                -
#   both     rxe0                                siw0

add_netdev() {
  ip link add "$1" type veth peer name "$2" && ip addr add "$3/24" dev "$1" && ip addr add "$4/64" dev "$1" nodad &&
    ip link set "$1" up && ip link set "$2" up
}

set_up_devices() {
  ip link set lo up
  ulimit -l unlimited
  add_netdev v0 v1 10.77.0.1 fd00:77::1
  case $1 in
    rxe | siw) rdma link add "${1}0" type "$1" netdev v0 ;;
    both)
      add_netdev w0 w1 10.78.0.1 fd00:78::1
      rdma link add rxe0 type rxe netdev v0 && rdma link add siw0 type siw netdev w0
      ;;
  esac
}

# What the stock registry reads: the provider that others wrote, by netdev.
write_dat_conf() {
  local netdev
  for netdev in v0 w0; do
    echo "$netdev u2.0 nonthreadsafe default libdaplofa.so.2 dapl.2.0 \"$netdev 0\" \"\""
  done >/run/dat.conf
}
