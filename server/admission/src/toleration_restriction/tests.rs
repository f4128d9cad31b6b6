//! Coverage and merging of tolerations, by upstream's tests of `pkg/util/tolerations`.

use super::*;

/// Builds a toleration from its name: `key[-value][-effect[-seconds]]`, or `all` for every key.
fn toleration(name: &str) -> Toleration {
    let mut toleration = Toleration { operator: "Exists".into(), ..Toleration::default() };
    let mut parts = name.split('-').peekable();
    toleration.key = parts.next_if(|key| *key != "all").unwrap_or_default().into();
    parts.next_if_eq(&"all");
    if let Some(value) = parts.next_if(|part| part.starts_with("ba")) {
        toleration.operator = "Equal".into();
        toleration.value = value.into();
    }
    toleration.effect = match parts.next() {
        Some("nosched") => "NoSchedule",
        Some("prefnosched") => "PreferNoSchedule",
        Some("noexec") => "NoExecute",
        _ => "",
    }
    .into();
    toleration.toleration_seconds = parts.next().map(|seconds| seconds.parse().unwrap());
    toleration
}

fn tolerations(names: &str) -> Vec<Toleration> {
    names.split_whitespace().map(toleration).collect()
}

const ALL: &str = "all all-nosched all-noexec foo foo-bar foo-nosched foo-bar-nosched foo-baz-nosched faz-nosched \
                   faz-baz-nosched foo-prefnosched foo-noexec foo-bar-noexec foo-noexec-10 foo-noexec-0 \
                   foo-bar-noexec-10";

/// Whether one toleration covers another, by upstream's `isSuperset`.
fn covers(wider: &Toleration, toleration: &Toleration) -> bool {
    let exists = wider.operator == "Exists";
    let same_key = toleration.key == wider.key || (wider.key.is_empty() && exists);
    let same_effect = toleration.effect == wider.effect || wider.effect.is_empty();
    let as_long = match wider.toleration_seconds.filter(|_| wider.effect == "NoExecute") {
        Some(most) => toleration.toleration_seconds.is_some_and(|seconds| seconds <= most),
        None => true,
    };
    let same_value = match wider.operator.as_str() {
        "" | "Equal" => toleration.operator == "Equal" && toleration.value == wider.value,
        _ => exists,
    };
    wider == toleration || (same_key && same_effect && as_long && same_value)
}

/// Upstream's `MergeTolerations`, which compares all pairs.
fn merged_by_pairs(all: &[Toleration]) -> Vec<Toleration> {
    let mut kept: Vec<Toleration> = Vec::new();
    for (index, toleration) in all.iter().enumerate() {
        let mut later = all[index + 1..].iter();
        if !kept.iter().any(|wider| covers(wider, toleration))
            && !later.any(|wider| wider != toleration && covers(wider, toleration))
        {
            kept.push(toleration.clone());
        }
    }
    kept
}

#[test]
fn merges_like_pairwise_comparison() {
    let mut known = tolerations(ALL);
    let odd = [("", "", None), ("Lt", "", None), ("", "NoExecute", Some(-1)), ("Equal", "NoExecute", Some(i64::MAX))];
    known.extend(odd.map(|(operator, effect, seconds)| Toleration {
        key: "foo".into(),
        operator: operator.into(),
        value: "bar".into(),
        effect: effect.into(),
        toleration_seconds: seconds,
    }));
    let mut seed = 1_u64;
    for _ in 0..3_000 {
        let mut all = Vec::new();
        for _ in 0..6 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            all.push(known[(seed >> 33) as usize % known.len()].clone());
        }
        assert_eq!(merged(all[..3].to_vec(), all[3..].to_vec()), merged_by_pairs(&all), "{all:?}");
        let allowed = all[..3].iter().all(|toleration| all[3..].iter().any(|wider| covers(wider, toleration)));
        assert_eq!(is_allowed(&all[..3], &all[3..]), allowed, "{all:?}");
    }
}

#[test]
fn merges_many_tolerations_quickly() {
    let many = |first: usize| -> Vec<Toleration> {
        let numbers = (first..first + 20_000).map(|number| format!("foo{number}-nosched"));
        numbers.map(|name| toleration(&name)).collect()
    };
    assert_eq!(merged(many(0), many(10_000)).len(), 30_000);
}

#[test]
fn wider_tolerations_cover_others() {
    let table = [
        ("all", ALL),
        ("all-nosched", "foo-nosched foo-bar-nosched foo-baz-nosched faz-nosched faz-baz-nosched"),
        ("all-noexec", "foo-noexec foo-bar-noexec foo-noexec-10 foo-noexec-0 foo-bar-noexec-10"),
        (
            "foo",
            "foo-bar foo-nosched foo-bar-nosched foo-baz-nosched foo-prefnosched foo-noexec foo-bar-noexec \
             foo-noexec-10 foo-noexec-0 foo-bar-noexec-10",
        ),
        ("foo-bar", "foo-bar-nosched foo-bar-noexec foo-bar-noexec-10"),
        ("foo-nosched", "foo-bar-nosched foo-baz-nosched"),
        ("foo-bar-nosched", ""),
        ("foo-baz-nosched", ""),
        ("faz-nosched", "faz-baz-nosched"),
        ("faz-baz-nosched", ""),
        ("foo-prefnosched", ""),
        ("foo-noexec", "foo-bar-noexec foo-noexec-10 foo-noexec-0 foo-bar-noexec-10"),
        ("foo-bar-noexec", "foo-bar-noexec-10"),
        ("foo-noexec-10", "foo-noexec-0 foo-bar-noexec-10"),
        ("foo-noexec-0", ""),
        ("foo-bar-noexec-10", ""),
    ];
    for (wider, covered) in table {
        for other in ALL.split_whitespace() {
            let expect = other == wider || covered.split_whitespace().any(|name| name == other);
            assert_eq!(is_allowed(&[toleration(other)], &[toleration(wider)]), expect, "{wider} of {other}");
        }
    }
}

#[test]
fn whitelists_allow_what_they_cover() {
    let table = [
        ("foo-bar-nosched foo-baz-nosched", "foo-bar-nosched foo-baz-nosched", true),
        ("foo-bar-nosched foo-bar-nosched", "foo-bar-nosched foo-baz-nosched", true),
        ("foo-bar-nosched foo-bar-nosched", "all", true),
        ("foo-bar-nosched foo-bar-nosched", "foo-baz-nosched", false),
        ("foo-bar-nosched foo-baz-nosched", "foo-baz-nosched", false),
        ("foo-bar-nosched", "foo-baz-nosched", false),
        ("foo-bar", "foo-nosched", false),
        ("foo-bar", "", true),
        ("", "foo-bar", true),
    ];
    for (names, whitelist, expect) in table {
        assert_eq!(is_allowed(&tolerations(names), &tolerations(whitelist)), expect, "{names} in {whitelist}");
    }
}

#[test]
fn omits_covered_tolerations() {
    let some = "foo-bar-nosched faz-baz-nosched foo-noexec-10";
    let table = [
        (
            some,
            "foo-prefnosched foo-baz-nosched",
            "foo-bar-nosched faz-baz-nosched foo-noexec-10 foo-prefnosched foo-baz-nosched",
        ),
        (some, some, some),
        ("foo-bar-nosched foo-baz-nosched", "foo-nosched faz-baz-nosched", "foo-nosched faz-baz-nosched"),
        ("foo-bar-nosched foo-baz-nosched foo-noexec-10", "all", "all"),
        ("all", "foo-bar-nosched foo-baz-nosched foo-noexec-10", "all"),
        ("foo-bar", "", "foo-bar"),
    ];
    for (first, second, expect) in table {
        assert_eq!(merged(tolerations(first), tolerations(second)), tolerations(expect), "{first} with {second}");
    }
}

#[test]
fn parses_tolerations_of_annotations() {
    let of = |annotation: Option<&str>| {
        let mut namespace = Namespace::default();
        let annotation = annotation.map(|text| (DEFAULTS.to_owned(), text.to_owned()));
        namespace.metadata.annotations = annotation.into_iter().collect();
        annotated_tolerations(&namespace, DEFAULTS).map_err(|status| status.code)
    };
    assert_eq!(of(None), Ok(None), "the plugin's configuration counts");
    assert_eq!(of(Some("")), Ok(Some(Vec::new())), "none at all");
    assert_eq!(of(Some(r#"[{"key": "foo", "operator": "Exists"}]"#)), Ok(Some(tolerations("foo"))));
    assert_eq!(of(Some("no JSON")), Err(500));
}
