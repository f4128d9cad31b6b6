//! Default classes, which administrators mark by annotation; `DefaultIngressClass`.

use endpoints::AdmissionAttributes;
use generated::meta::v1::ObjectMeta;
use generated::networking::v1::{Ingress, IngressClass};
use machinery::reflect::Owned;
use machinery::status::Status;
use registry::Stores;

use super::lookup::find_all;

const DEFAULT_INGRESS_CLASS: &str = "ingressclass.kubernetes.io/is-default-class";
/// The annotation that set the class of an ingress before the field `ingressClassName` existed.
const INGRESS_CLASS_ANNOTATION: &str = "kubernetes.io/ingress.class";

/// Returns the name of the newest class that has one of the annotations. Ties are resolved by name.
pub fn newest_default<'a>(classes: impl Iterator<Item = &'a ObjectMeta>, annotations: &[&str]) -> Option<String> {
    let is_default =
        |meta: &&ObjectMeta| annotations.iter().any(|a| meta.annotations.get(*a).is_some_and(|v| v == "true"));
    let age = |meta: &&ObjectMeta| (std::cmp::Reverse(meta.creation_timestamp.unix()), meta.name.clone());
    classes.filter(is_default).min_by_key(age).map(|meta| meta.name.clone())
}

/// Sets the default class of an ingress that has no class.
pub async fn default_ingress_class(
    stores: &Stores,
    attributes: &AdmissionAttributes,
    object: &mut Owned,
) -> Result<(), Status> {
    let Some(ingress) = object.downcast_mut::<Ingress>() else { return Ok(()) };
    if ingress.spec.ingress_class_name.is_some() || ingress.metadata.annotations.contains_key(INGRESS_CLASS_ANNOTATION)
    {
        return Ok(());
    }
    let found = find_all::<IngressClass>(stores, attributes, ("networking.k8s.io", "ingressclasses"), "").await?;
    ingress.spec.ingress_class_name = newest_default(found.iter().map(|c| &c.metadata), &[DEFAULT_INGRESS_CLASS]);
    Ok(())
}
