//! Selection of a pod's container (`validateContainer`).

use generated::core::v1::Pod;
use machinery::status::Status;

/// Returns the requested container, or the only container if none is requested.
pub fn choose<'p>(pod: &'p Pod, requested: &'p str) -> Result<&'p str, Status> {
    let name = &pod.metadata.name;
    let unnamed =
        |choice: String| Err(Status::bad_request(format!("a container name must be specified for pod {name}{choice}")));
    match (requested, pod.spec.containers.as_slice()) {
        ("", [only]) => Ok(&only.name),
        ("", []) => unnamed(String::new()),
        ("", _) => unnamed(format!(", choose one of: [{}]", names(pod).collect::<Vec<_>>().join(" "))),
        (requested, _) if names(pod).any(|known| known == requested) => Ok(requested),
        (requested, _) => Err(Status::bad_request(format!("container {requested} is not valid for pod {name}"))),
    }
}

/// Returns the names of all containers, init containers first.
fn names(pod: &Pod) -> impl Iterator<Item = &str> {
    let spec = &pod.spec;
    let ordinary = spec.init_containers.iter().chain(&spec.containers).map(|container| container.name.as_str());
    ordinary.chain(spec.ephemeral_containers.iter().map(|container| container.ephemeral_container_common.name.as_str()))
}

#[cfg(test)]
mod tests {
    use generated::core::v1::{Container, Pod};

    use super::choose;

    #[test]
    fn selects_requested_or_only_container() {
        let check = |containers: &[&str], init: &[&str], requested: &str, expect: Result<&str, &str>| {
            let named = |name: &&str| Container { name: (*name).into(), ..Container::default() };
            let mut pod = Pod::default();
            pod.metadata.name = "p".into();
            pod.spec.containers = containers.iter().map(named).collect();
            pod.spec.init_containers = init.iter().map(named).collect();
            assert_eq!(choose(&pod, requested).map_err(|status| status.message), expect.map_err(String::from));
        };
        check(&["a"], &["i"], "", Ok("a"));
        check(&["a"], &["i"], "i", Ok("i"));
        check(&["a"], &[], "z", Err("container z is not valid for pod p"));
        check(&["a", "b"], &["i"], "", Err("a container name must be specified for pod p, choose one of: [i a b]"));
        check(&[], &[], "", Err("a container name must be specified for pod p"));
    }
}
