/// Typed value of one device property; set exactly one variant.
#[check(string, max_bytes = 64)]
#[check(version, format = semantic_version, max_bytes = 64)]
#[check(bools, invalid = "must not be empty if specified", when(gate(DRAListTypeAttributes), sent_empty(bools)))]
#[check(ints, invalid = "must not be empty if specified", when(gate(DRAListTypeAttributes), sent_empty(ints)))]
#[check(strings, invalid = "must not be empty if specified", when(gate(DRAListTypeAttributes), sent_empty(strings)))]
#[check(strings, each(max_bytes = 64))]
#[check(versions, invalid = "must not be empty if specified", when(gate(DRAListTypeAttributes), sent_empty(versions)))]
#[check(versions, each(format = semantic_version, max_bytes = 64))]
#[check(
    self,
    invalid("", "exactly one value must be specified"),
    when(
        none(bool, int, string, version, bools, ints, strings, versions),
        not(all(
            gate(DRAListTypeAttributes),
            any(sent_empty(bools), sent_empty(ints), sent_empty(strings), sent_empty(versions))
        ))
    )
)]
#[check(
    self,
    invalid = "exactly one value must be specified",
    when(many(bool, int, string, version, bools, ints, strings, versions))
)]
pub struct DeviceAttribute {
    /// Whole-number value of the property.
    #[field(2)]
    pub int: Option<i64>,

    /// True-or-false value of the property.
    #[field(3)]
    pub bool: Option<bool>,

    /// Text value, limited to 64 characters.
    #[field(4)]
    pub string: Option<String>,

    /// Semantic version value, such as `1.2.3`, limited to 64 characters.
    #[field(5)]
    pub version: Option<String>,

    /// Several whole numbers, for properties with more than one value.
    #[field(6, list = atomic, gate = DRAListTypeAttributes)]
    pub ints: Vec<i64>,

    /// Several true-or-false values for one property.
    #[field(7, list = atomic, gate = DRAListTypeAttributes)]
    pub bools: Vec<bool>,

    /// Several text values for one property, 64 characters each.
    #[field(8, list = atomic, gate = DRAListTypeAttributes)]
    pub strings: Vec<String>,

    /// Several semantic versions for one property.
    #[field(9, list = atomic, gate = DRAListTypeAttributes)]
    pub versions: Vec<String>,
}

/// Amount a device offers plus the rules for sharing it.
#[check(requestPolicy, forbidden = "allowMultipleAllocations must be true")]
#[check(
    requestPolicy,
    forbidden = "exactly one policy can be specified, cannot specify \"validValues\" and \"validRange\" at the same time",
    when(part(shared), set(requestPolicy.validValues), set(requestPolicy.validRange))
)]
#[check(
    requestPolicy.default,
    required = "required when validValues is defined",
    when(part(shared), set(requestPolicy.validValues), unset(requestPolicy.validRange))
)]
#[check(
    requestPolicy.default,
    required = "required when validRange is defined",
    when(part(shared), unset(requestPolicy.validValues), set(requestPolicy.validRange))
)]
#[check(
    requestPolicy.validRange.min,
    required = "required when validRange is defined",
    when(part(shared), unset(requestPolicy.validValues), set(requestPolicy.default))
)]
#[check(self, by_hand = validate_shared_capacity, when(part(shared)))]
pub struct DeviceCapacity {
    /// Total amount available on the device.
    #[field(1, required)]
    pub value: Quantity,

    /// Consumption rules, applicable only to devices that permit multiple allocations.
    #[field(2, gate = DRAConsumableCapacity)]
    pub request_policy: Option<CapacityRequestPolicy>,
}

/// Governs how much of a shareable device's capacity one request consumes.
pub struct CapacityRequestPolicy {
    /// Amount consumed if the request does not mention this capacity.
    #[field(1, always)]
    pub default: Option<Quantity>,

    /// Explicit amounts that may be consumed, ascending; requests round up to the next.
    #[field(3, list = atomic)]
    pub valid_values: Vec<Quantity>,

    /// Continuous or stepped range of consumable amounts; exclusive with `validValues`.
    #[field(4)]
    pub valid_range: Option<CapacityRequestPolicyRange>,
}

/// Bounds and granularity of consumable capacity.
pub struct CapacityRequestPolicyRange {
    /// Smallest consumable amount; lower requests are raised to it.
    #[field(1, required, omitempty)]
    pub min: Option<Quantity>,

    /// Largest consumable amount; must not exceed the total capacity.
    #[field(2)]
    pub max: Option<Quantity>,

    /// Granularity counted from `min`; requests round up to a multiple.
    #[field(3)]
    pub step: Option<Quantity>,
}
