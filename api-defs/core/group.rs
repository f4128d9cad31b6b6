//! Pods and what they need: nodes, volumes, services, configuration, accounts and quotas.

#![group("", priority = 18000, model = "io.k8s.api.core", proto = "k8s.io.api.core")]
#![version(v1, priority = 1)]
