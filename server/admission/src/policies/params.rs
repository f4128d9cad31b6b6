//! Parameter objects of policies (`paramKind`, `paramRef`).

use generated::admissionregistration::v1::{ParamKind, ParamRef, parameter_not_found_action_type};
use machinery::catalog::{KindDef, parse_api_version};
use machinery::reflect::Owned;
use meta::{compiled_selector, selects};
use registry::{Predicate, meta};
use serde_json::Value as Json;

use super::document::document;
use super::error::ParamsError;
use super::matching::PolicyRequest;

/// Returns the parameters of a binding. Each is evaluated separately; `None` is a policy without
/// parameters.
///
/// # Errors
/// When the kind is unknown, the binding cannot select its objects or must have one, or the store fails.
pub async fn find(
    subject: &PolicyRequest<'_>,
    kind: Option<&ParamKind>,
    reference: Option<&ParamRef>,
) -> Result<Vec<Option<Json>>, ParamsError> {
    let (Some(kind), Some(reference)) = (kind, reference) else { return Ok(vec![None]) };
    let (group, version) = parse_api_version(&kind.api_version);
    let context = subject.context;
    let unknown = || {
        let (group, version) = (group.to_owned(), version.to_owned());
        ParamsError::UnknownKind { group, version, kind: kind.kind.clone() }
    };
    let (def, store) = match context.catalog.kind(group, version, &kind.kind) {
        Some(def) => {
            let mut stores = context.stores.values();
            (def, stores.find(|store| std::ptr::eq(store.storage_kind.hub, def.hub)).cloned())
        }
        None => {
            let custom = context.custom();
            let endpoint = custom.and_then(|custom| custom.of_kind(group, version, &kind.kind)).ok_or_else(unknown)?;
            (endpoint.kind, endpoint.store.clone())
        }
    };
    let store = store.ok_or_else(unknown)?;
    let namespace = match (store.def.namespaced, reference.namespace.as_str()) {
        (false, "") => "",
        (false, _) => return Err(ParamsError::Namespace),
        (true, "") if subject.attributes.namespace.is_empty() => return Err(ParamsError::NoNamespace),
        (true, "") => subject.attributes.namespace.as_str(),
        (true, namespace) => namespace,
    };
    let found = if reference.name.is_empty() {
        let objects = store.objects(namespace, &Predicate::default()).await?;
        objects.into_iter().filter(|object| is_selected(reference, object)).collect()
    } else {
        match store.get(namespace, &reference.name, "").await {
            Ok(object) => vec![object],
            Err(status) if status.code == 404 => Vec::new(),
            Err(status) => return Err(status.into()),
        }
    };
    if found.is_empty()
        && reference.parameter_not_found_action.as_deref() == Some(parameter_not_found_action_type::DENY)
    {
        return Err(ParamsError::NotFound);
    }
    Ok(found.iter().map(|object| Some(document_of(def, object))).collect())
}

fn document_of(def: &'static KindDef, object: &Owned) -> Json {
    document(def, Some(object))
}

fn is_selected(reference: &ParamRef, object: &Owned) -> bool {
    let selector = compiled_selector(reference.selector.as_deref());
    selector.is_some_and(|selector| meta(object.as_ref()).is_some_and(|meta| selects(&selector, &meta.labels)))
}
