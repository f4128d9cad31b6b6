//! What has to hold of every kind in the catalog, tried on random values: formats carry all of a
//! value and agree with each other, defaulting settles at once, conversion to the hub and back
//! loses nothing, broken bytes are refused without panic.

mod random;

use machinery::catalog::KindDef;
use machinery::defaulting::{apply_defaults, normalize};
use machinery::json::{self, Issues};
use machinery::reflect::{Owned, Ref};
use machinery::{protobuf, serde_impl, yaml};
use random::{Random, Reach};

/// Values that are tried of each kind.
const VALUES: u64 = 4;

/// Tries a property on random values of all kinds and reports all failures at once.
fn for_every_kind(reach: Reach, property: impl Fn(&'static KindDef, Owned) -> Result<(), String>) {
    let mut failures = Vec::new();
    for kind in own::catalog().kinds {
        for seed in 0..VALUES {
            if let Err(why) = property(kind, random::value(kind, seed, reach)) {
                failures.push(format!("{} {} (seed {seed}): {why}", kind.api_version(), kind.kind));
                break;
            }
        }
    }
    let shown: Vec<&str> = failures.iter().take(30).map(String::as_str).collect();
    assert!(failures.is_empty(), "{} kinds fail:\n{}", failures.len(), shown.join("\n"));
}

fn to_json(value: Ref<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    json::encode(value, &mut out);
    out
}

fn to_protobuf(value: Ref<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    protobuf::encode(value, &mut out);
    out
}

fn from_json(kind: &KindDef, text: &[u8]) -> Result<Owned, String> {
    let (mut value, mut issues) = (Owned::new(kind.def), Issues::collect());
    json::decode(text, value.as_mut(), &mut issues).map_err(|e| e.to_string())?;
    match issues.iter().next() {
        Some(issue) => Err(format!("{issue:?}")),
        None => Ok(value),
    }
}

/// Says where two values differ, by their JSON.
fn same(got: Ref<'_>, want: Ref<'_>) -> Result<(), String> {
    if got == want {
        return Ok(());
    }
    let (got, want) = (to_json(got), to_json(want));
    same_text(&got, &want).and(Err("the values differ, their JSON does not".into()))
}

fn same_text(got: &[u8], want: &[u8]) -> Result<(), String> {
    if got == want {
        return Ok(());
    }
    let at = got.iter().zip(want).position(|(a, b)| a != b).unwrap_or(got.len().min(want.len()));
    let around =
        |text: &[u8]| String::from_utf8_lossy(&text[at.saturating_sub(80)..(at + 60).min(text.len())]).into_owned();
    Err(format!("got …{}…, want …{}…", around(got), around(want)))
}

#[test]
fn json_carries_every_value() {
    for_every_kind(Reach::Everything, |kind, value| {
        let text = to_json(value.as_ref());
        let back = from_json(kind, &text)?;
        same(back.as_ref(), value.as_ref())?;
        same_text(&to_json(back.as_ref()), &text)
    });
}

#[test]
fn yaml_carries_every_value() {
    for_every_kind(Reach::Everything, |kind, value| {
        let mut text = Vec::new();
        yaml::encode(value.as_ref(), &mut text).map_err(|e| e.to_string())?;
        let json = yaml::to_json(&text, &mut Issues::ignore()).map_err(|e| e.to_string())?;
        same(from_json(kind, &json)?.as_ref(), value.as_ref())
    });
}

#[test]
fn serde_carries_every_value() {
    for_every_kind(Reach::Everything, |kind, value| {
        let text = serde_json::to_vec(&value.as_ref()).map_err(|e| e.to_string())?;
        let mut back = Owned::new(kind.def);
        let mut reader = serde_json::Deserializer::from_slice(&text);
        serde_impl::deserialize_into(back.as_mut(), &mut reader).map_err(|e| e.to_string())?;
        same(back.as_ref(), value.as_ref())?;
        // Both writers say the same, apart from how they escape.
        let ours: serde_json::Value = serde_json::from_slice(&to_json(value.as_ref())).map_err(|e| e.to_string())?;
        let theirs: serde_json::Value = serde_json::from_slice(&text).map_err(|e| e.to_string())?;
        same_text(theirs.to_string().as_bytes(), ours.to_string().as_bytes())
    });
}

#[test]
fn protobuf_carries_every_value() {
    for_every_kind(Reach::Protobuf, |kind, value| {
        let raw = to_protobuf(value.as_ref());
        let mut back = Owned::new(kind.def);
        protobuf::decode(&raw, back.as_mut()).map_err(|e| e.to_string())?;
        same(back.as_ref(), value.as_ref())?;
        if to_protobuf(back.as_ref()) == raw { Ok(()) } else { Err("encoded again, the bytes differ".into()) }
    });
}

#[test]
fn json_and_protobuf_agree() {
    for_every_kind(Reach::Protobuf, |kind, mut value| {
        protobuf::set_embedded_kinds(value.as_mut());
        let (text, raw) = (to_json(value.as_ref()), to_protobuf(value.as_ref()));
        let mut transcoded = Vec::new();
        protobuf::to_json(kind.def, &raw, &mut transcoded).map_err(|e| e.to_string())?;
        same_text(&transcoded, &text)?;
        let through_json = to_protobuf(from_json(kind, &text)?.as_ref());
        if through_json == raw { Ok(()) } else { Err("protobuf of what JSON carried differs".into()) }
    });
}

#[test]
fn defaulting_and_normalizing_settle_at_once() {
    for_every_kind(Reach::Everything, |_, mut value| {
        apply_defaults(value.as_mut());
        let once = value.clone();
        apply_defaults(value.as_mut());
        same(value.as_ref(), once.as_ref()).map_err(|why| format!("defaults: {why}"))?;
        normalize(value.as_mut());
        let once = value.clone();
        normalize(value.as_mut());
        same(value.as_ref(), once.as_ref()).map_err(|why| format!("normalize: {why}"))
    });
}

/// Kinds of older versions that can say one thing in two ways, or say what the hub cannot: the
/// first trip changes them as upstream's does, the second does not.
const SETTLED_BY_CONVERSION: [(&str, &str, &str); 9] = [
    ("apiextensions.k8s.io/v1beta1", "CustomResourceDefinition", "spec.version and spec.versions name the same"),
    ("apps/v1beta1", "StatefulSet", "an absent status.observedGeneration is 0"),
    ("autoscaling/v1", "HorizontalPodAutoscaler", "annotations carry what v1 has no fields for"),
    ("certificates.k8s.io/v1beta1", "CertificateSigningRequest", "an absent signerName is empty"),
    ("discovery.k8s.io/v1beta1", "EndpointSlice", "the node's name is in the topology as well"),
    ("flowcontrol.apiserver.k8s.io/v1beta3", "PriorityLevelConfiguration", "an annotation tells 0 shares from none"),
    ("rbac.authorization.k8s.io/v1alpha1", "ClusterRoleBinding", "subjects have a version as well as a group"),
    ("rbac.authorization.k8s.io/v1alpha1", "RoleBinding", "subjects have a version as well as a group"),
    ("resource.k8s.io/v1beta1", "ResourceSlice", "an absent basic device is an empty one"),
];

#[test]
fn conversion_to_the_hub_and_back_keeps_a_value() {
    for_every_kind(Reach::Everything, |kind, value| {
        let trip = |value| kind.from_hub(kind.to_hub(value));
        let once = trip(value.clone());
        let settles =
            SETTLED_BY_CONVERSION.iter().any(|(version, name, _)| *version == kind.api_version() && *name == kind.kind);
        if settles { same(trip(once.clone()).as_ref(), once.as_ref()) } else { same(once.as_ref(), value.as_ref()) }
    });
}

#[test]
fn conversion_from_the_hub_and_back_settles() {
    for_every_kind(Reach::Everything, |kind, _| {
        if kind.conversion.is_none() {
            return Ok(());
        }
        let hub = KindDef { def: kind.hub, conversion: None, lifecycle: kind.lifecycle, ..*kind };
        let trip = |value| kind.to_hub(kind.from_hub(value));
        let settled = trip(random::value(&hub, 7, Reach::Everything));
        same(trip(settled.clone()).as_ref(), settled.as_ref())
    });
}

/// Bytes that are cut short, or in which one byte is another, is missing or comes twice.
fn broken(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut out = bytes.to_vec();
    if out.is_empty() {
        return out;
    }
    let at = random.below(out.len());
    match random.below(4) {
        0 => out.truncate(at),
        1 => out[at] = random.next() as u8,
        2 => drop(out.remove(at)),
        _ => out.insert(at, out[at]),
    }
    out
}

#[test]
fn broken_bytes_do_not_panic() {
    let mut seed = 0;
    for kind in own::catalog().kinds {
        seed += 1;
        let mut random = Random::new(seed);
        let value = random::value(kind, seed, Reach::Protobuf);
        let (text, raw) = (to_json(value.as_ref()), to_protobuf(value.as_ref()));
        for _ in 0..12 {
            let mut into = Owned::new(kind.def);
            let bytes = broken(&raw, &mut random);
            let mut transcoded = Vec::new();
            let transcodes = protobuf::to_json(kind.def, &bytes, &mut transcoded).is_ok();
            let decodes = protobuf::decode(&bytes, into.as_mut()).is_ok();
            assert_eq!(transcodes, decodes, "{} {}: protobuf is read in two ways", kind.api_version(), kind.kind);
            if decodes {
                protobuf::set_embedded_kinds(into.as_mut());
                assert_eq!(transcoded, to_json(into.as_ref()), "{} {}", kind.api_version(), kind.kind);
            }
            let mut into = Owned::new(kind.def);
            if json::decode(&broken(&text, &mut random), into.as_mut(), &mut Issues::collect()).is_ok() {
                to_protobuf(into.as_ref());
            }
        }
        let mut text = Vec::new();
        yaml::encode(value.as_ref(), &mut text).expect("a value has a YAML form");
        for _ in 0..3 {
            drop(yaml::to_json(&broken(&text, &mut random), &mut Issues::collect()));
        }
    }
}
