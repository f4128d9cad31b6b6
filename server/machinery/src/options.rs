//! Options of validations: what is allowed or asked for in one place and not in another, as upstream's functions are told
//! by arguments. Functions choose them ([`Validation::set_option`](crate::hooks::Validation::set_option)), and conditions of
//! declared checks name them: `when(option(in_pod))`.

/// What is checked is part of a pod, not of a template of pods.
pub const IN_POD: &str = "in_pod";
