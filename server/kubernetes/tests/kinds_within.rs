//! Tests of nested objects with `kind` and `apiVersion`, which protobuf does not store.

use generated::apps::v1::StatefulSet;
use generated::core::v1::PersistentVolumeClaim;
use machinery::json;
use machinery::protobuf;
use machinery::reflect::{Mut, Ref};

#[test]
fn claim_templates_have_kind_in_every_encoding() {
    let mut set = StatefulSet::default();
    set.spec.volume_claim_templates = vec![PersistentVolumeClaim::default()];
    let mut raw = Vec::new();
    protobuf::encode(Ref::of(&set), &mut raw);

    let mut read = StatefulSet::default();
    protobuf::decode(&raw, Mut::of(&mut read)).expect("it reads");
    protobuf::set_embedded_kinds(Mut::of(&mut read));
    let type_meta = &read.spec.volume_claim_templates[0].type_meta;
    assert_eq!((type_meta.kind.as_str(), type_meta.api_version.as_str()), ("PersistentVolumeClaim", "v1"));

    let (mut encoded, mut transcoded) = (Vec::new(), Vec::new());
    json::encode(Ref::of(&read), &mut encoded);
    protobuf::to_json(Ref::of(&set).def(), &raw, &mut transcoded).expect("it transcodes");
    let [encoded, transcoded] = [encoded, transcoded].map(|text| String::from_utf8(text).expect("it is text"));
    assert_eq!(transcoded, encoded);
    assert!(
        transcoded.contains(r#""volumeClaimTemplates":[{"kind":"PersistentVolumeClaim","apiVersion":"v1","#),
        "{transcoded}"
    );
}
