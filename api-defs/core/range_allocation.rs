use crate::meta::ObjectMeta;

/// Internal bookkeeping of allocated ports, UIDs or similar numbers; not for end users.
#[kind]
#[versions(v1(introduced = "1.0"))]
pub struct RangeAllocation {
    /// Identity of the allocation record.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Span being allocated from, e.g. a CIDR or port range.
    #[field(2, required)]
    pub range: String,

    /// Bitmap in which each set bit marks a used slot.
    #[field(3, required)]
    pub data: Bytes,
}
