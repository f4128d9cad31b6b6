//! Drivers.

use machinery::features;
use machinery::hooks::Context;
use machinery::reflect::Ref;

use generated::storage::v1::CSIDriver;

/// Tokens are better kept where they are not logged (`csiDriverStrategy.WarningsOnCreate`, `WarningsOnUpdate`).
pub fn warn_csi_driver(context: &Context, new: &CSIDriver, old: Option<&CSIDriver>) -> Vec<String> {
    let requests = |driver: &CSIDriver| driver.spec.token_requests.clone();
    let same = |old: &CSIDriver| {
        let (old, new) = (requests(old), requests(new));
        old.len() == new.len() && old.iter().zip(&new).all(|(old, new)| Ref::of(old) == Ref::of(new))
    };
    let in_attributes = new.spec.service_account_token_in_secrets.is_none() && !new.spec.token_requests.is_empty();
    if !in_attributes || old.is_some_and(same) || !context.enabled(features::CSIServiceAccountTokenSecrets) {
        return Vec::new();
    }
    let warning = "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent \
                   possible logging of tokens in volume attributes";
    vec![warning.to_owned()]
}
