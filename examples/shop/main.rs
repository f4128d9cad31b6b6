//! An API server of one group, `shop.example.com`, behind kube-apiserver: see `docs/library.md`.

use std::process::ExitCode;

use apiserver::{Admission, AdmissionAttributes, Operation, Owned, Server, Status, async_trait};
use shop::shop::v1::Product;

/// Default supplier.
const DEFAULT_SUPPLIER: &str = "workshop.example.com";

/// Admission of the shop: sets the default supplier, and rejects negative prices.
struct ShopAdmission;

#[async_trait]
impl Admission for ShopAdmission {
    async fn admit(
        &self,
        attributes: &AdmissionAttributes,
        object: &mut Owned,
        _: Option<&Owned>,
    ) -> Result<(), Status> {
        if let Some(product) = object.downcast_mut::<Product>()
            && attributes.operation == Operation::Create
            && product.spec.supplier.is_empty()
        {
            product.spec.supplier = DEFAULT_SUPPLIER.into();
        }
        Ok(())
    }

    async fn validate(&self, _: &AdmissionAttributes, object: Option<&Owned>, _: Option<&Owned>) -> Result<(), Status> {
        match object.and_then(Owned::downcast_ref::<Product>) {
            Some(product) if product.spec.price.to_string().starts_with('-') => {
                Err(Status::bad_request("spec.price must not be negative"))
            }
            _ => Ok(()),
        }
    }
}

fn main() -> ExitCode {
    Server::delegating("shop-apiserver", shop::groups()).admission(ShopAdmission).run()
}
