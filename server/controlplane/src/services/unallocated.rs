//! Why an address or a port is not allocated, with upstream's texts.

use std::net::IpAddr;

use machinery::status::Status;
use options::{Cidr, PortRange};

/// Why an address or a port is not allocated.
#[derive(Debug, thiserror::Error)]
pub enum Unallocated {
    /// No address or port is left (`ipallocator.ErrFull`).
    #[error("range is full")]
    Full,
    #[error("provided port is already allocated")]
    PortTaken,
    #[error("provided port is not in the valid range. The range of valid ports is {range}")]
    PortOutOfRange { range: PortRange },
    #[error("provided IP is already allocated")]
    AddressTaken,
    #[error("the provided IP ({address}) is not in the valid range. The range of valid IPs is {range}")]
    AddressOutOfRange { address: IpAddr, range: Cidr },
    /// No range has the family of the address.
    #[error("the provided network does not match the current range")]
    OtherNetwork,
    /// The allocations cannot be read or written.
    #[error(transparent)]
    Store(#[from] Status),
}
