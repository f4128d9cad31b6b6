use crate::meta::ObjectMeta;

mod v1 {
    /// How many replicas something has.
    #[kind]
    pub struct Scale {
        #[field(1)]
        pub metadata: ObjectMeta,

        /// How many are wanted.
        #[field(2)]
        pub spec: ScaleSpec,
    }

    /// How many are wanted.
    pub struct ScaleSpec {
        /// Number of replicas.
        #[field(1)]
        pub replicas: i32,
    }
}
