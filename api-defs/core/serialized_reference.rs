/// Envelope for storing an object reference in serialised form.
#[kind]
#[versions(v1(introduced = "1.0"))]
pub struct SerializedReference {
    /// Object that the envelope refers to.
    #[field(1)]
    pub reference: ObjectReference,
}
