//! Tests that masked decoding equals full decoding, and that setting a text changes no other bytes.

use super::golden::secret;
use super::types::*;
use super::{decoded, encoded};
use crate::protobuf::{Mask, decode_masked, with_text};
use crate::reflect::{Mut, Struct};

#[test]
fn decodes_only_masked_fields() {
    let volume = Volume {
        name: "v".into(),
        source: VolumeSource {
            empty_dir: Some(Box::new(EmptyDir { medium: "Memory".into(), size_limit: Some("1Gi".parse().unwrap()) })),
        },
    };
    let read = |paths: &[&[&str]]| {
        let mut mask = Mask::new(Volume::def());
        paths.iter().for_each(|path| assert!(mask.add(path), "{path:?}"));
        let mut value = Volume::default();
        decode_masked(&encoded(&volume), &mask, Mut::of(&mut value)).unwrap();
        value
    };
    assert_eq!(read(&[&["name"], &["emptyDir"]]), volume);
    assert_eq!(read(&[&["name"]]), Volume { name: "v".into(), ..Default::default() });
    let medium = read(&[&["emptyDir", "medium"]]);
    let empty_dir = medium.source.empty_dir.unwrap();
    assert_eq!((medium.name.as_str(), empty_dir.medium.as_str(), empty_dir.size_limit.is_none()), ("", "Memory", true));
    assert!(!Mask::new(Volume::def()).add(&["emptyDir", "nothing"]) && !Mask::new(Volume::def()).add(&[]));
}

#[test]
fn decodes_masked_field_of_every_list_item() {
    let sysctl = |name: &str, value: &str| Sysctl { name: name.into(), value: value.into() };
    let context = PodSecurityContext { sysctls: vec![sysctl("a", "1"), sysctl("b", "2")], ..Default::default() };
    let mut mask = Mask::new(PodSecurityContext::def());
    assert!(mask.add(&["sysctls", "name"]));
    let mut found = PodSecurityContext::default();
    decode_masked(&encoded(&context), &mask, Mut::of(&mut found)).unwrap();
    assert_eq!(found.sysctls, [sysctl("a", ""), sysctl("b", "")]);
}

#[test]
fn sets_text_at_any_position() {
    let mut secret = secret();
    for version in ["", "7", "123456789", &"9".repeat(300)] {
        let raw = encoded(&secret);
        let set = with_text(&raw, 1, 6, version).unwrap();
        secret.metadata.resource_version = version.into();
        assert_eq!(decoded::<Secret>(&set).unwrap(), secret);
        assert_eq!(set, encoded(&secret));
    }
    assert_eq!(with_text(&[], 1, 6, "7").unwrap(), [10, 3, 50, 1, b'7']);
    assert_eq!(with_text(&[10, 0, 18, 0], 1, 6, "7").unwrap(), [10, 3, 50, 1, b'7', 18, 0]);
    assert!(with_text(&[10, 9], 1, 6, "7").is_err());
}
