//! Port numbers and names.

use machinery::field_path::Path;
use machinery::format::{is_valid_port_name, is_valid_port_num};
use machinery::hooks::Validation;
use machinery::scalar::IntOrString;

/// What is spoken on a port.
pub const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];

/// A port number.
pub fn validate_port(v: &mut Validation<'_>, path: &Path<'_>, port: i32) {
    is_valid_port_num(port.into()).into_iter().for_each(|message| v.invalid(path, port, message));
}

/// `ValidatePortNumOrName`
pub fn validate_port_or_name(v: &mut Validation<'_>, path: &Path<'_>, port: &IntOrString) {
    match port {
        IntOrString::Int(number) => {
            is_valid_port_num(i64::from(*number)).into_iter().for_each(|message| v.invalid(path, *number, message));
        }
        IntOrString::String(name) => v.malformed(path, name, is_valid_port_name(name)),
    }
}
