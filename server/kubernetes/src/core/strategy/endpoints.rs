//! Strategy of endpoints.

use machinery::field_path::Path;
use machinery::format::ip::warnings_for_ip;
use machinery::hooks::WriteContext;
use machinery::json_name;

use generated::core::v1::{EndpointAddress, Endpoints};

/// Mirrors `endpointsWarnings`.
pub fn warn_endpoints(_: &WriteContext, endpoints: &Endpoints, _: Option<&Endpoints>) -> Vec<String> {
    let (path, mut out) = (Path::new(json_name!(Endpoints.subsets)), Vec::new());
    for (index, subset) in endpoints.subsets.iter().enumerate() {
        let path = path.index(index);
        for (field, addresses) in [("addresses", &subset.addresses), ("notReadyAddresses", &subset.not_ready_addresses)]
        {
            let path = path.child(field);
            let addresses = addresses.iter().enumerate();
            out.extend(addresses.filter_map(|(index, a)| {
                warnings_for_ip(&path.index(index).child(json_name!(EndpointAddress.ip)), &a.ip)
            }));
        }
    }
    out
}
