/// Transport protocol of a port.
pub enum Protocol {
    TCP,
    UDP,
    SCTP,
}
