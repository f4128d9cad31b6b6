use crate::meta::Status;

/// Envelope sent to a CRD conversion webhook and returned with its answer.
#[kind]
#[versions(
    v1(introduced = "1.16"),
    v1beta1(introduced = "1.13", deprecated = "1.19", replacement = "apiextensions.k8s.io/v1 ConversionReview")
)]
pub struct ConversionReview {
    /// Set by the API server with the objects to convert.
    #[field(1)]
    pub request: Option<ConversionRequest>,

    /// Set by the webhook with the converted objects.
    #[field(2)]
    pub response: Option<ConversionResponse>,
}

/// Batch of custom objects the API server wants converted to another version.
pub struct ConversionRequest {
    /// Correlation id for this conversion call, to be echoed in the response.
    #[field(1, required, go = "types.UID")]
    pub uid: String,

    /// Target group and version for every object, e.g. `stable.example.com/v1`.
    #[field(2, required)]
    pub desired_api_version: String,

    /// Custom objects to convert, possibly stored at differing versions.
    #[field(3, required, list = atomic)]
    pub objects: Vec<RawExtension>,
}

/// Converted objects, or the failure, returned by a conversion webhook.
pub struct ConversionResponse {
    /// Copied unchanged from the matching conversion request.
    #[field(1, required, go = "types.UID")]
    pub uid: String,

    /// Results in the same order as the input; empty when conversion failed.
    #[field(2, required, list = atomic)]
    pub converted_objects: Vec<RawExtension>,

    /// Overall outcome; `status` must be `Success` or `Failure`, with a message on error.
    #[field(3, required)]
    pub result: Status,
}
