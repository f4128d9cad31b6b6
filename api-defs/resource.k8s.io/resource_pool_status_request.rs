use crate::meta::{Condition, ObjectMeta};

mod v1alpha3 {
    /// One-shot query for pool usage; create it, then read the status.
    #[kind(
        plural = "resourcepoolstatusrequests",
        scope = Cluster,
        unconditional_update = false,
        delete_returns_object,
        generation = false
    )]
    #[versions(v1alpha3(introduced = "1.36"))]
    #[subresource(status)]
    #[column("Driver", spec.driver)]
    #[column("Total", by_hand = resource_pool_status_request_total, reads(status), "Devices in the pools, all together.")]
    #[column("Available", by_hand = resource_pool_status_request_available, reads(status), "Devices that are free.")]
    #[column("Allocated", by_hand = resource_pool_status_request_allocated, reads(status), "Devices that claims have taken.")]
    #[column("Unavailable", by_hand = resource_pool_status_request_unavailable, reads(status), "Devices that cannot be taken.")]
    #[column("Errors", by_hand = resource_pool_status_request_errors, reads(status), "Pools that could not be counted.")]
    #[column("Pools", integer, by_hand = resource_pool_status_request_pools, reads(status), "How many pools match.")]
    #[column("Status", by_hand = resource_pool_status_request_status, reads(status), "Whether the request is pending, complete or failed.")]
    #[column("Completed", by_hand = resource_pool_status_request_completed, reads(status), "How long ago the request was answered.")]
    #[check(status, immutable, when(subresource = status, was(set(status))))]
    #[check(status.conditions, below, when(subresource = status, not(was(set(status)))))]
    struct ResourcePoolStatusRequest {
        /// Name and labels of this query object.
        #[field(1, required)]
        metadata: ObjectMeta,

        /// Which pools to report on; immutable.
        #[field(2, required, immutable)]
        spec: ResourcePoolStatusRequestSpec,

        /// Answer from the controller; unset until processing ends.
        #[field(3, dv("k8s:optional"))]
        status: Option<ResourcePoolStatusRequestStatus>,
    }

    /// Filter and size limit for a pool usage query.
    struct ResourcePoolStatusRequestSpec {
        /// Report only pools of this driver; mandatory.
        #[field(1, required, format = dns1123_subdomain_caseless, dv("k8s:required"))]
        driver: String,

        /// Report only this pool; unset reports every pool of the driver.
        #[field(2, format = resource_pool_name, dv("k8s:optional"))]
        pool_name: Option<String>,

        /// Most pools to include in the answer.
        #[field(3, default = 100, min = 1, max = 1000, dv("k8s:optional"))]
        limit: Option<i32>,
    }

    /// Answer to a pool usage query.
    struct ResourcePoolStatusRequestStatus {
        /// Pools matching the filter, including those cut off by the limit.
        #[field(6, required, omitempty, min = 0, dv("k8s:required"))]
        pool_count: Option<i32>,

        /// Usage summaries of the matching pools.
        #[field(2, list = atomic, max_items = 1000, dv("k8s:optional"))]
        pools: Vec<PoolStatus>,

        /// Observations such as `Complete` or `Failed` for this query.
        #[field(3, list = map(type), unique, patch = merge, max_items = 10, dv("k8s:optional"))]
        conditions: Vec<Condition>,
    }

    /// Usage summary of one device pool, calculated on demand.
    struct PoolStatus {
        /// Driver publishing the summarised pool.
        #[field(1, required, omitempty, format = dns1123_subdomain_caseless, dv("k8s:required"))]
        driver: String,

        /// Name of the summarised pool.
        #[field(2, required, omitempty, format = resource_pool_name, dv("k8s:required"))]
        pool_name: String,

        /// Newest pool generation that was seen.
        #[field(9, required, min = 0, dv("k8s:required"))]
        generation: i64,

        /// Slices found for that generation.
        #[field(8, min = 1, dv("k8s:optional"))]
        resource_slice_count: Option<i32>,

        /// Devices in the pool altogether.
        #[field(4, min = 0, dv("k8s:optional"))]
        total_devices: Option<i32>,

        /// Devices handed out to claims at present.
        #[field(5, min = 0, dv("k8s:optional"))]
        allocated_devices: Option<i32>,

        /// Devices free for new claims.
        #[field(6, min = 0, dv("k8s:optional"))]
        available_devices: Option<i32>,

        /// Devices that cannot be allocated, for example owing to taints.
        #[field(7, min = 0, dv("k8s:optional"))]
        unavailable_devices: Option<i32>,

        /// Node the pool belongs to; absent for multi-node pools.
        #[field(3, format = dns1123_subdomain, dv("k8s:optional"))]
        node_name: Option<String>,

        /// Why the pool data is unusable, such as missing slices; counts are then absent.
        #[field(10, max_bytes = 256, dv("k8s:optional"))]
        validation_error: Option<String>,
    }
}
