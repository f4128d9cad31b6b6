//! Limited resources, by responses of upstream's server to the same requests.

use endpoints::Operation;
use generated::core::v1::{PersistentVolumeClaim, Pod};
use serde_json::{Value, json};

use super::super::usage;
use super::*;
use crate::testing::{owned, parsed, request};

const CONFIGURATION: &str = "
limitedResources:
- resource: pods
  matchScopes:
  - {scopeName: PriorityClass, operator: In, values: [high, other]}
- resource: persistentvolumeclaims
  matchContains: [.storageclass.storage.k8s.io/requests.storage]
- {apiGroup: apps, resource: pods, matchContains: [pods]}
";

fn load(head: &str, body: &str) -> Result<Limited, Error> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("quota.yaml"), format!("{head}{body}")).unwrap();
    let file = folder.path().join("admission.yaml");
    let text = "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\n\
        plugins:\n- {name: ResourceQuota, path: quota.yaml}\n";
    std::fs::write(&file, text).unwrap();
    Limited::load(&Configurations::load(Some(&file)).unwrap())
}

fn limited() -> Limited {
    load("apiVersion: apiserver.config.k8s.io/v1\nkind: ResourceQuotaConfiguration\n", CONFIGURATION).unwrap()
}

#[test]
fn accepts_both_configuration_kinds() {
    assert_eq!(limited().0.len(), 3);
    for version in ["v1beta1", "v1alpha1"] {
        let head = format!("apiVersion: resourcequota.admission.k8s.io/{version}\nkind: Configuration\n");
        assert_eq!(load(&head, CONFIGURATION).unwrap().0.len(), 3);
    }
    let check = |head: &str, body: &str, expect: &str| {
        let why = load(head, body).err().unwrap().to_string();
        assert!(why.starts_with("couldn't init admission plugin \"ResourceQuota\"") && why.contains(expect), "{why}");
    };
    let head = "apiVersion: apiserver.config.k8s.io/v1\nkind: ResourceQuotaConfiguration\n";
    check(head, "limitedResources: [{apiGroup: apps}]\n", "limitedResources[0].resource: Required value");
    check(head, "limited: []\n", "unknown field \"limited\"");
    check("apiVersion: v1\nkind: Pod\n", "", "Pod");
}

#[test]
fn limited_scopes_require_quota() {
    let limited = limited();
    let check = |class: &str, scopes: Value, expect: Result<(), (u16, &str)>| {
        let pod = owned::<Pod>(&json!({"spec": {"priorityClassName": class}}));
        let quota: ResourceQuota = parsed(&json!({"spec": {"scopeSelector": {"matchExpressions": scopes}}}));
        let attributes = request(Operation::Create, "Pod", "pods");
        let usage = usage::usage(&attributes, &pod);
        let found = limited.check(&attributes, &pod, [&quota].into_iter(), &BTreeSet::new(), &usage);
        assert_eq!(found.map_err(|status| (status.code, status.message)), expect.map_err(|(c, m)| (c, m.to_owned())));
    };
    let of_class = |name: &str| json!([{"scopeName": "PriorityClass", "operator": "In", "values": [name]}]);
    let refused = Err((500, "insufficient quota to match these scopes: [{PriorityClass In [high other]}]"));
    check("", json!([]), Ok(()));
    check("low", json!([]), Ok(()));
    check("high", json!([]), refused);
    check("high", of_class("other"), refused);
    check("high", of_class("high"), Ok(()));
    check("other", json!([{"scopeName": "BestEffort", "operator": "Exists"}]), refused);
}

#[test]
fn limited_resources_require_quota() {
    let limited = limited();
    let claim = |class: &str| {
        let spec = json!({"storageClassName": class, "resources": {"requests": {"storage": "1Gi"}}});
        owned::<PersistentVolumeClaim>(&json!({"spec": spec}))
    };
    let check = |class: &str, covered: &[&str], expect: Result<(), &str>| {
        let (claim, attributes) =
            (claim(class), request(Operation::Create, "PersistentVolumeClaim", "persistentvolumeclaims"));
        let usage = usage::usage(&attributes, &claim);
        let covered = covered.iter().map(ToString::to_string).collect();
        let found = limited.check(&attributes, &claim, std::iter::empty(), &covered, &usage);
        let found = found.map_err(|status| (status.code, status.message));
        assert_eq!(found, expect.map_err(|why| (403, why.to_owned())), "{class}");
    };
    let gold = "gold.storageclass.storage.k8s.io/requests.storage";
    let why = "persistentvolumeclaims \"one\" is forbidden: insufficient quota to consume: ";
    check("", &[], Ok(()));
    check("gold", &[], Err(&format!("{why}{gold}")));
    check("gold", &["requests.storage"], Err(&format!("{why}{gold}")));
    check("gold", &[gold], Ok(()));
}
