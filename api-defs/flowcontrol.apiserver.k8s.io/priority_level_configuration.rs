use crate::meta::ObjectMeta;

/// Cluster-scoped concurrency bucket for API requests, isolating traffic classes from each other.
#[kind(plural = "prioritylevelconfigurations", scope = Cluster, metadata = whole)]
#[versions(
    v1(introduced = "1.29"),
    v1beta3(introduced = "1.26", replacement = "flowcontrol.apiserver.k8s.io/v1 PriorityLevelConfiguration"),
    v1beta2(introduced = "1.23", replacement = "flowcontrol.apiserver.k8s.io/v1beta3 PriorityLevelConfiguration"),
    v1beta1(introduced = "1.20", replacement = "flowcontrol.apiserver.k8s.io/v1beta3 PriorityLevelConfiguration")
)]
#[subresource(status, resets(spec, metadata, metadata.uid, metadata.generateName, metadata.deletionGracePeriodSeconds))]
#[column("Type", spec.type)]
#[column("NominalConcurrencyShares", spec.limited.nominalConcurrencyShares or "<none>")]
#[column("Queues", spec.limited.limitResponse.queuing.queues or "<none>")]
#[column("HandSize", spec.limited.limitResponse.queuing.handSize or "<none>")]
#[column("QueueLengthLimit", spec.limited.limitResponse.queuing.queueLengthLimit or "<none>")]
#[column("Age", age)]
#[check(
    metadata.annotations,
    refused = "annotation 'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares' is forbidden",
    when(
        not(subresource = status),
        set(metadata.annotations["flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares"])
    )
)]
#[check(
    spec.type,
    invalid = "must be 'Exempt' if and only if `name` is 'exempt'",
    when(
        not(subresource = status),
        any(
            all(metadata.name = exempt, not(spec.type = Exempt)),
            all(spec.type = Exempt, not(metadata.name = exempt))
        )
    )
)]
#[check(spec, below, when(not(subresource = status)))]
#[check(self, by_hand = validate_mandatory_level, when(not(subresource = status)))]
#[check(status.conditions, below)]
pub struct PriorityLevelConfiguration {
    /// Name and labels; FlowSchemas refer to this object by name.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Whether the level is limited or exempt, plus matching settings.
    #[field(2)]
    pub spec: PriorityLevelConfigurationSpec,

    /// Conditions recorded for this priority level.
    #[field(3)]
    pub status: PriorityLevelConfigurationStatus,
}

/// Describes how a priority level treats its requests.
#[union(discriminator = type, members(Limited = limited, Exempt = exempt))]
#[check(limited, forbidden = "must be nil if the type is not Limited", when(type = Exempt))]
#[check(exempt, below, when(type = Exempt))]
#[check(exempt, forbidden = "must be nil if the type is Limited", when(type = Limited))]
#[check(limited, required = "must not be empty when type is Limited", below, when(type = Limited))]
#[check(type, one_of(Exempt, Limited))]
pub struct PriorityLevelConfigurationSpec {
    /// Either `Limited`, subject to seat limits, or `Exempt`, never queued or rejected.
    #[field(1, required)]
    pub r#type: PriorityLevelEnablement,

    /// Seat and queue settings; mandatory for `Limited`, forbidden for `Exempt`.
    #[field(2)]
    pub limited: Option<LimitedPriorityLevelConfiguration>,

    /// Lending and share settings usable only when `type` is `Exempt`.
    #[field(3)]
    pub exempt: Option<ExemptPriorityLevelConfiguration>,
}

/// States whether a priority level enforces concurrency limits.
#[open]
pub enum PriorityLevelEnablement {
    Exempt,
    Limited,
}

/// Concurrency share, borrowing and overflow settings for a non-exempt priority level.
#[check(nominalConcurrencyShares, not_negative = "must be a non-negative integer")]
#[check(limitResponse, below)]
#[check(
    lendablePercent,
    min(0, "must be between 0 and 100, inclusive"),
    max(100, "must be between 0 and 100, inclusive")
)]
#[check(borrowingLimitPercent, not_negative = "if specified, must be a non-negative integer")]
pub struct LimitedPriorityLevelConfiguration {
    /// Relative weight when dividing server concurrency among levels; default 30.
    #[field(1, always, default_hidden = 30)]
    pub nominal_concurrency_shares: Option<i32>,

    /// Overflow behaviour once all seats are taken.
    #[field(2)]
    pub limit_response: LimitResponse,

    /// Portion of nominal seats, 0 to 100, lent out when idle; default 0.
    #[field(3, default_hidden = 0)]
    pub lendable_percent: Option<i32>,

    /// Cap on seats taken from others, relative to nominal seats; unlimited when unset.
    #[field(4)]
    pub borrowing_limit_percent: Option<i32>,
}

/// Treatment of requests exceeding a level's concurrency limit.
#[check(type, one_of(Queue, Reject))]
#[check(queuing, forbidden = "must be nil if limited.limitResponse.type is not Limited", when(type = Reject))]
#[check(
    queuing,
    required = "must not be empty if limited.limitResponse.type is Limited",
    below,
    when(type = Queue)
)]
#[union(discriminator = type, members(Queue = queuing), without(Reject))]
pub struct LimitResponse {
    /// Overflow handling: `Queue` holds requests, `Reject` answers HTTP 429 at once.
    #[field(1, required)]
    pub r#type: LimitResponseType,

    /// Queue dimensions, permitted only together with the `Queue` type.
    #[field(2)]
    pub queuing: Option<QueuingConfiguration>,
}

/// Overflow choice between waiting in a queue and immediate rejection.
#[open]
pub enum LimitResponseType {
    Queue,
    Reject,
}

/// Dimensions of the shuffle-sharded queues holding excess requests.
#[check(queueLengthLimit, positive = "must be positive")]
#[check(queues, positive = "must be positive", max(10000000, "must not be greater than 10000000"))]
#[check(handSize, positive = "must be positive")]
#[check(self, by_hand = validate_hand)]
pub struct QueuingConfiguration {
    /// Number of queues in the level, default 64; 1 disables fairness between flows.
    #[field(1, always, default_hidden = 64)]
    pub queues: i32,

    /// Queues dealt to each flow for shuffle sharding, default 8; cannot exceed `queues`.
    #[field(2, always, default_hidden = 8)]
    pub hand_size: i32,

    /// Waiting requests each queue can hold before rejecting more; default 50.
    #[field(3, always, default_hidden = 50)]
    pub queue_length_limit: i32,
}

/// Tuning for priority levels whose requests bypass queuing entirely.
#[check(nominalConcurrencyShares, not_negative = "must be a non-negative integer")]
#[check(
    lendablePercent,
    min(0, "must be between 0 and 100, inclusive"),
    max(100, "must be between 0 and 100, inclusive")
)]
pub struct ExemptPriorityLevelConfiguration {
    /// Weight reserved for this exempt level out of the server's concurrency; default 0.
    #[field(1, default_hidden = 0)]
    pub nominal_concurrency_shares: Option<i32>,

    /// Share of this level's seats, 0 to 100, that other levels may borrow; default 0.
    #[field(2, default_hidden = 0)]
    pub lendable_percent: Option<i32>,
}

/// Observed health of a priority level.
pub struct PriorityLevelConfigurationStatus {
    /// Priority level observations, one entry per condition type.
    #[field(1, list = map(type), patch = merge)]
    pub conditions: Vec<PriorityLevelConfigurationCondition>,
}

/// One named observation about a priority level.
#[check(type, distinct)]
#[check(type, filled)]
pub struct PriorityLevelConfigurationCondition {
    /// Which aspect of the priority level is being reported.
    #[field(1, go = "PriorityLevelConfigurationConditionType")]
    pub r#type: String,

    /// Reported value, `True`, `False` or `Unknown`; must be given.
    #[field(2)]
    pub status: ConditionStatus,

    /// When this priority level condition last switched value.
    #[field(3, always)]
    pub last_transition_time: Time,

    /// CamelCase token telling why the priority level condition switched.
    #[field(4)]
    pub reason: String,

    /// Operator-oriented detail on the priority level condition.
    #[field(5)]
    pub message: String,
}

mod v1beta3 {
    #[differs(PriorityLevelConfiguration)]
    #[default(by_hand = default_v1beta3_priority_level_configuration)]
    struct PriorityLevelConfiguration {}

    #[convert(PriorityLevelConfiguration, by_hand = v1beta3_priority_level_configuration)]
    struct ZeroShares;

    #[differs(LimitedPriorityLevelConfiguration)]
    struct LimitedPriorityLevelConfiguration {
        /// Relative weight when dividing server concurrency among levels; default 30.
        #[field(1, always)]
        nominal_concurrency_shares: i32,
    }
}

mod v1beta2 {
    #[differs(LimitedPriorityLevelConfiguration)]
    struct LimitedPriorityLevelConfiguration {
        /// Older beta name for the concurrency weight, default 30; replaced by `nominalConcurrencyShares`.
        #[field(1, always, default_hidden = 30, renamed = nominal_concurrency_shares)]
        assured_concurrency_shares: i32,
    }

    #[differs(PriorityLevelConfigurationStatus)]
    struct PriorityLevelConfigurationStatus {
        /// Priority level observations, one entry per condition type.
        #[field(1, list = map(type))]
        conditions: Vec<PriorityLevelConfigurationCondition>,
    }
}

mod v1beta1 {
    #[differs(LimitedPriorityLevelConfiguration)]
    struct LimitedPriorityLevelConfiguration {
        /// Older beta name for the concurrency weight, default 30; replaced by `nominalConcurrencyShares`.
        #[field(1, always, default_hidden = 30, renamed = nominal_concurrency_shares)]
        assured_concurrency_shares: i32,
    }

    #[differs(PriorityLevelConfigurationStatus)]
    struct PriorityLevelConfigurationStatus {
        /// Priority level observations, one entry per condition type.
        #[field(1, list = map(type))]
        conditions: Vec<PriorityLevelConfigurationCondition>,
    }
}
