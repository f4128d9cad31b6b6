//! Which container of a pod is meant (`validateContainer`).

use generated::core::v1::Pod;
use machinery::status::Status;

/// The container that is asked for, or the only one.
pub fn choose<'p>(pod: &'p Pod, asked: &'p str) -> Result<&'p str, Status> {
    let name = &pod.metadata.name;
    let unnamed =
        |choice: String| Err(Status::bad_request(format!("a container name must be specified for pod {name}{choice}")));
    match (asked, pod.spec.containers.as_slice()) {
        ("", [only]) => Ok(&only.name),
        ("", []) => unnamed(String::new()),
        ("", _) => unnamed(format!(", choose one of: [{}]", names(pod).collect::<Vec<_>>().join(" "))),
        (asked, _) if names(pod).any(|known| known == asked) => Ok(asked),
        (asked, _) => Err(Status::bad_request(format!("container {asked} is not valid for pod {name}"))),
    }
}

/// All containers, those that run first first.
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
    fn containers_are_named_or_alone() {
        let check = |containers: &[&str], init: &[&str], asked: &str, expect: Result<&str, &str>| {
            let named = |name: &&str| Container { name: (*name).into(), ..Container::default() };
            let mut pod = Pod::default();
            pod.metadata.name = "p".into();
            pod.spec.containers = containers.iter().map(named).collect();
            pod.spec.init_containers = init.iter().map(named).collect();
            assert_eq!(choose(&pod, asked).map_err(|status| status.message), expect.map_err(String::from));
        };
        check(&["a"], &["i"], "", Ok("a"));
        check(&["a"], &["i"], "i", Ok("i"));
        check(&["a"], &[], "z", Err("container z is not valid for pod p"));
        check(&["a", "b"], &["i"], "", Err("a container name must be specified for pod p, choose one of: [i a b]"));
        check(&[], &[], "", Err("a container name must be specified for pod p"));
    }
}
