// Written by `export rust`; change the definitions instead.
//
// Needs the crates `k8s-openapi` (with the feature of a version of Kubernetes), `serde` (with `derive`) and `serde_json`.

/// A product on sale.
#[derive(Clone, Debug, Default, PartialEq, serde::Deserialize)]
pub struct Product {
    /// Standard object metadata.
    #[serde(default, skip_serializing_if = "is_default")]
    pub metadata: k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta,
    /// Desired state of the product.
    #[serde(default, skip_serializing_if = "is_default")]
    pub spec: ProductSpec,
    /// Observed state of the product.
    #[serde(default, skip_serializing_if = "is_default")]
    pub status: ProductStatus,
}

impl serde::Serialize for Product {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let mut state = serializer.serialize_map(None)?;
        state.serialize_entry("apiVersion", "shop.example.com/v1")?;
        state.serialize_entry("kind", "Product")?;
        if !is_default(&self.metadata) {
            state.serialize_entry("metadata", &self.metadata)?;
        }
        if !is_default(&self.spec) {
            state.serialize_entry("spec", &self.spec)?;
        }
        if !is_default(&self.status) {
            state.serialize_entry("status", &self.status)?;
        }
        state.end()
    }
}

impl k8s_openapi::Resource for Product {
    const API_VERSION: &'static str = "shop.example.com/v1";
    const GROUP: &'static str = "shop.example.com";
    const KIND: &'static str = "Product";
    const VERSION: &'static str = "v1";
    const URL_PATH_SEGMENT: &'static str = "products";
    type Scope = k8s_openapi::NamespaceResourceScope;
}

impl k8s_openapi::ListableResource for Product {
    const LIST_KIND: &'static str = "ProductList";
}

impl k8s_openapi::Metadata for Product {
    type Ty = k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
    fn metadata(&self) -> &Self::Ty {
        &self.metadata
    }
    fn metadata_mut(&mut self) -> &mut Self::Ty {
        &mut self.metadata
    }
}

/// Desired state of the product.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ProductSpec {
    /// Units to keep in stock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stock: Option<i32>,
    /// Price per unit, such as `12500m`.
    #[serde(default)]
    pub price: k8s_openapi::apimachinery::pkg::api::resource::Quantity,
    /// Supplier of the product; immutable, defaults to the shop's workshop.
    #[serde(default)]
    pub supplier: String,
    /// Maker of the product; replaced by `supplier`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub maker: String,
}

/// Observed state of the product.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ProductStatus {
    /// Conditions, one entry per type.
    #[serde(default, skip_serializing_if = "is_default")]
    pub conditions: Vec<k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition>,
    /// Units on the shelf.
    #[serde(default, skip_serializing_if = "is_default")]
    pub available: i32,
}

/// Whether a value is left out of JSON.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
