use std::collections::BTreeMap;

use bytes::Bytes;

use super::*;
use crate::def::{FieldInfo, Flags};
use crate::describe;
use crate::reflect::Struct;

const OMIT: Flags = Flags::OMIT_EMPTY;

/// A [`FieldInfo`] with only a default.
macro_rules! default {
    ($literal:expr) => {
        &FieldInfo { default: Some($literal), ..FieldInfo::PLAIN }
    };
}

use Literal::{Bool, Float, Int, List, Object, String as Text};

#[derive(Clone, Default)]
struct Port {
    name: String,
    protocol: String,
    number: i32,
}

describe! { Port, PORT "Port" {} [
    name:     "name",     1, OMIT;
    protocol: "protocol", 2, OMIT, default!(Text("TCP"));
    number:   "number",   3, OMIT;
] }

#[derive(Clone, Default)]
struct Probe {
    period: i32,
    port: IntOrString,
}

describe! { Probe, PROBE "Probe" {} [
    period: "period", 1, OMIT, default!(Int(10));
    port:   "port",   2, OMIT;
] }

#[derive(Clone, Default)]
struct Everything {
    flag: bool,
    small: i32,
    large: i64,
    ratio: f64,
    text: String,
    bytes: Bytes,
    quantity: Quantity,
    time: Time,
    micro: MicroTime,
    duration: Duration,
    target: IntOrString,
    raw: RawExtension,
    fields: FieldsV1,
    json: Option<JsonValue>,
    opt: Option<i32>,
    opt_flag: Option<bool>,
    opt_text: Option<String>,
    texts: Vec<String>,
    numbers: Vec<i64>,
    labels: BTreeMap<String, String>,
    amounts: BTreeMap<String, Quantity>,
    in_place: Probe,
    probe: Option<Box<Probe>>,
    ports: Vec<Port>,
    named: BTreeMap<String, Port>,
}

describe! { Everything, EVERYTHING "Everything" {} [
    flag:     "flag",      1, OMIT, default!(Bool(true));
    small:    "small",     2, OMIT, default!(Int(-3));
    large:    "large",     3, OMIT, default!(Int(1 << 40));
    ratio:    "ratio",     4, OMIT, default!(Float(1.5));
    text:     "text",      5, OMIT, default!(Text("a"));
    bytes:    "bytes",     6, OMIT, default!(Text("b"));
    quantity: "quantity",  7, OMIT, default!(Text("1Gi"));
    time:     "time",      8, OMIT, default!(Text("2024-01-02T03:04:05Z"));
    micro:    "micro",     9, OMIT, default!(Text("2024-01-02T03:04:05.000006Z"));
    duration: "duration", 10, OMIT, default!(Text("5m"));
    target:   "target",   11, OMIT, default!(Text("25%"));
    raw:      "raw",      12, OMIT, default!(Object(&[("a", List(&[Int(1), Text("x\"")])), ("b", Bool(false))]));
    fields:   "fields",   13, OMIT, default!(Object(&[]));
    json:     "json",     14, OMIT, default!(Float(0.5));
    opt:      "opt",      15, OMIT, default!(Int(7));
    opt_flag: "optFlag",  16, OMIT, default!(Bool(true));
    opt_text: "optText",  17, OMIT, default!(Text("o"));
    texts:    "texts",    18, OMIT, default!(List(&[Text("a"), Text("b")]));
    numbers:  "numbers",  19, OMIT, default!(List(&[Int(1), Int(2)]));
    labels:   "labels",   20, OMIT, default!(Object(&[("k", Text("v"))]));
    amounts:  "amounts",  21, OMIT, default!(Object(&[("cpu", Text("100m"))]));
    in_place: "inPlace",  22, OMIT, default!(Object(&[("port", Int(80))]));
    probe:    "probe",    23, OMIT, default!(Object(&[("port", Text("http"))]));
    ports:    "ports",    24, OMIT, default!(List(&[Object(&[("name", Text("p")), ("number", Int(1))])]));
    named:    "named",    25, OMIT, default!(Object(&[("n", Object(&[("protocol", Text("UDP"))]))]));
] }

fn defaulted<T: Struct>(mut value: T) -> T {
    apply_defaults(Mut::of(&mut value));
    value
}

#[test]
fn every_shape_accepts_its_literal() {
    let all = defaulted(Everything::default());
    assert_eq!(
        all,
        Everything {
            flag: true,
            small: -3,
            large: 1 << 40,
            ratio: 1.5,
            text: "a".into(),
            bytes: Bytes::from_static(b"b"),
            quantity: "1Gi".parse().unwrap(),
            time: "2024-01-02T03:04:05Z".parse().unwrap(),
            micro: "2024-01-02T03:04:05.000006Z".parse().unwrap(),
            duration: "5m".parse().unwrap(),
            target: "25%".into(),
            raw: r#"{"a":[1,"x\""],"b":false}"#.into(),
            fields: "{}".into(),
            json: Some("0.5".into()),
            opt: Some(7),
            opt_flag: Some(true),
            opt_text: Some("o".into()),
            texts: vec!["a".into(), "b".into()],
            numbers: vec![1, 2],
            labels: [("k".into(), "v".into())].into(),
            amounts: [("cpu".into(), "100m".parse().unwrap())].into(),
            in_place: Probe { period: 10, port: IntOrString::Int(80) },
            probe: Some(Box::new(Probe { period: 10, port: "http".into() })),
            ports: vec![Port { name: "p".into(), protocol: "TCP".into(), number: 1 }],
            named: [("n".into(), Port { protocol: "UDP".into(), ..Default::default() })].into(),
        }
    );
    assert_eq!(defaulted(all.clone()), all);
}

#[test]
fn set_fields_keep_their_values() {
    let set = Everything {
        flag: true,
        small: 1,
        text: "t".into(),
        duration: Duration::from_secs(1),
        opt: Some(0),
        opt_flag: Some(false),
        opt_text: Some(String::new()),
        texts: vec![String::new()],
        labels: [("a".into(), "b".into())].into(),
        in_place: Probe { period: 1, ..Default::default() },
        probe: Some(Box::default()),
        ports: vec![Port { protocol: "SCTP".into(), ..Default::default() }, Port::default()],
        ..Default::default()
    };
    let found = defaulted(set.clone());
    assert_eq!((found.small, &found.text, found.duration), (1, &set.text, set.duration));
    assert_eq!((found.opt, found.opt_flag, &found.opt_text), (set.opt, set.opt_flag, &set.opt_text));
    assert_eq!((&found.texts, &found.labels, &found.in_place), (&set.texts, &set.labels, &set.in_place));
    assert_eq!(found.probe.unwrap().period, 10);
    assert_eq!(found.ports.iter().map(|p| p.protocol.as_str()).collect::<Vec<_>>(), ["SCTP", "TCP"]);
}

#[derive(Clone, Default)]
struct Strategy {
    kind: String,
    surge: Option<IntOrString>,
    trace: String,
}

fn default_strategy(strategy: Mut<'_>) {
    let Some(strategy) = strategy.downcast::<Strategy>() else { return };
    strategy.trace += &format!("strategy saw {};", strategy.kind);
}

static STRATEGY_DEFAULTS: Defaults = Defaults { paths: &[], by_hand: Some(default_strategy) };

describe! { Strategy, STRATEGY "Strategy" { .defaults(&STRATEGY_DEFAULTS) } [
    kind:  "type",  1, OMIT, default!(Text("RollingUpdate"));
    surge: "surge", 2, OMIT;
    trace: "trace", 0, OMIT;
] }

#[derive(Clone, Default)]
struct Template {
    strategy: Option<Box<Strategy>>,
    ports: Vec<Port>,
}

describe! { Template, TEMPLATE "Template" { .defaults_below() } [
    strategy: "strategy", 1, OMIT;
    ports:    "ports",    2, OMIT;
] }

#[derive(Clone, Default)]
struct Spec {
    replicas: Option<i32>,
    strategy: Strategy,
    template: Template,
}

describe! { Spec, SPEC "Spec" { .defaults_below() } [
    replicas: "replicas", 1, OMIT;
    strategy: "strategy", 2, OMIT;
    template: "template", 3, Flags::INLINE;
] }

#[derive(Clone, Default)]
struct Workload {
    spec: Spec,
    trace: String,
}

fn default_workload(workload: Mut<'_>) {
    let Some(workload) = workload.downcast::<Workload>() else { return };
    workload.trace += &format!("{:?} {:?}", workload.spec.replicas, workload.spec.strategy.surge);
}

static WORKLOAD_DEFAULTS: Defaults = Defaults {
    paths: &[
        (&["spec", "replicas"], Int(1)),
        (&["spec", "strategy", "surge"], Text("25%")),
        (&["spec", "strategy", "type"], Text("OnDelete")),
        (&["spec", "ports", "name"], Text("unnamed")),
        (&["spec", "unknown"], Int(1)),
        (&["spec", "replicas", "below"], Int(1)),
    ],
    by_hand: Some(default_workload),
};

describe! { Workload, WORKLOAD "Workload" { .defaults(&WORKLOAD_DEFAULTS) } [
    spec:  "spec",  1, OMIT;
    trace: "trace", 0, OMIT;
] }

#[test]
fn defaults_apply_to_paths_then_by_hand_then_fields_then_below() {
    let template = Template { strategy: Some(Box::default()), ports: vec![Port::default()] };
    let workload = defaulted(Workload { spec: Spec { template, ..Default::default() }, ..Default::default() });
    assert_eq!(workload.trace, r#"Some(1) Some(String("25%"))"#);
    assert_eq!(workload.spec.strategy.kind, "OnDelete");
    assert_eq!(workload.spec.strategy.trace, "strategy saw OnDelete;");
    assert_eq!(workload.spec.template.ports[0], Port { name: "unnamed".into(), protocol: "TCP".into(), number: 0 });
    let below = workload.spec.template.strategy.unwrap();
    assert_eq!((below.kind.as_str(), below.trace.as_str()), ("RollingUpdate", "strategy saw ;"));
}

#[test]
fn absent_structs_on_paths_stay_absent() {
    let workload = defaulted(Workload::default());
    assert_eq!(workload.spec.template, Template::default());
}

#[derive(Clone, Default)]
struct Normal {
    name: String,
    inner: Option<Box<Normal>>,
    list: Vec<Normal>,
    map: BTreeMap<String, Normal>,
}

fn normalize_normal(normal: Mut<'_>) {
    let Some(normal) = normal.downcast::<Normal>() else { return };
    normal.name = normal.name.to_uppercase();
    // Children are visited after their parent, so they see its changes.
    for below in normal.inner.as_deref_mut().into_iter().chain(&mut normal.list).chain(normal.map.values_mut()) {
        below.name = format!("{}/{}", normal.name, below.name);
    }
}

describe! { Normal, NORMAL "Normal" { .normalize(normalize_normal).normalize_below() } [
    name:  "name",  1, OMIT;
    inner: "inner", 2, OMIT;
    list:  "list",  3, OMIT;
    map:   "map",   4, OMIT;
] }

#[derive(Clone, Default)]
struct Holder {
    normal: Normal,
}

describe! { Holder, HOLDER "Holder" { .normalize_below() } [
    normal: "normal", 1, OMIT;
] }

#[test]
fn parents_are_normalized_before_children() {
    let leaf = |name: &str| Normal { name: name.into(), ..Default::default() };
    let normal = Normal {
        name: "top".into(),
        inner: Some(Box::new(leaf("a"))),
        list: vec![leaf("b"), leaf("c")],
        map: [("k".into(), leaf("d"))].into(),
    };
    let mut holder = Holder { normal };
    normalize(Mut::of(&mut holder));
    let normal = holder.normal;
    let names = [&normal.name, &normal.inner.unwrap().name, &normal.list[1].name, &normal.map["k"].name];
    assert_eq!(names, ["TOP", "TOP/A", "TOP/C", "TOP/D"]);
}
