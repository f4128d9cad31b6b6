//! An API server of one group, `shop.example.com`, behind kube-apiserver: see `docs/library.md`.

use std::process::ExitCode;

use apiserver::{Admission, Attributes, Operation, Owned, Server, Status, async_trait};
use shop::shop::v1::Product;

/// Who delivers what nobody else does.
const WORKSHOP: &str = "workshop.example.com";

/// The rules of the house.
struct House;

#[async_trait]
impl Admission for House {
    async fn admit(&self, attributes: &Attributes, object: &mut Owned, _: Option<&Owned>) -> Result<(), Status> {
        if let Some(product) = object.downcast_mut::<Product>()
            && attributes.operation == Operation::Create
            && product.spec.supplier.is_empty()
        {
            product.spec.supplier = WORKSHOP.into();
        }
        Ok(())
    }

    async fn validate(&self, _: &Attributes, object: Option<&Owned>, _: Option<&Owned>) -> Result<(), Status> {
        match object.and_then(Owned::downcast_ref::<Product>) {
            Some(product) if product.spec.price.to_string().starts_with('-') => {
                Err(Status::bad_request("nobody is paid for taking something away"))
            }
            _ => Ok(()),
        }
    }
}

fn main() -> ExitCode {
    Server::delegating("shop-apiserver", shop::groups()).admission(House).run()
}
