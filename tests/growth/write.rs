//! A server, and the requests of each method.

use std::fs;

use machinery::reflect::Owned;
use machinery::{cbor, envelope, json as codec, yaml};
use reqwest::{Certificate, Client, Method as Verb};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::Server;
use crate::custom;
use crate::fields::{Many, Place};
use crate::target::{GATES, Method, SetUp, Target};

/// Admission plugins that are off by default and need no configuration. DenyServiceExternalIPs is
/// absent: it rejects every value of a field.
const PLUGINS: &str = "NamespaceAutoProvision,NamespaceExists,LimitPodHardAntiAffinityTopology,NodeRestriction,\
    AlwaysPullImages,PodNodeSelector,PodTolerationRestriction,ExtendedResourceToleration,\
    OwnerReferencesPermissionEnforcement";

/// Records only the bodies of one custom resource: the audit log treats all fields alike.
const AUDIT_POLICY: &str = r#"{"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": [
    {"level": "RequestResponse", "resources": [{"group": "growth.example.com"}]}, {"level": "None"}]}"#;

const JSON: &str = "application/json";

pub struct Writer {
    server: Server,
    http: Client,
    /// Number of created objects.
    serial: usize,
    _data: TempDir,
}

/// A response of the server.
pub struct Answer {
    pub code: u16,
    /// The resource version of the object in the response.
    pub version: String,
    pub text: String,
}

/// A stored object that requests change.
pub struct Stored {
    pub serial: usize,
    pub version: String,
    /// Whether it has many elements.
    pub is_many: bool,
}

pub struct Request {
    verb: Verb,
    path: String,
    media_type: &'static str,
    body: Vec<u8>,
}

impl Request {
    pub fn size(&self) -> usize {
        self.body.len()
    }
}

impl Writer {
    /// Starts a server that serves the custom resource.
    pub async fn start() -> Writer {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let data = tempfile::tempdir().unwrap();
        let tokens = data.path().join("tokens.csv");
        fs::write(&tokens, "growth-token,admin,1,system:masters\n").unwrap();
        let policy = data.path().join("policy.json");
        fs::write(&policy, AUDIT_POLICY).unwrap();
        let flags = [
            format!("--token-auth-file={}", tokens.display()),
            format!("--enable-admission-plugins={PLUGINS}"),
            format!("--audit-policy-file={}", policy.display()),
            format!("--audit-log-path={}", data.path().join("audit.log").display()),
            format!("--feature-gates=CBORServingAndStorage=true,{GATES}"),
            "--runtime-config=api/all=true".to_owned(),
            "-v=2".to_owned(),
        ];
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        let server = Server::start_with(data.path(), &flags);
        let pem = fs::read(server.data().join("pki/ca.crt")).unwrap();
        let http = Client::builder().add_root_certificate(Certificate::from_pem(&pem).unwrap()).build().unwrap();
        let writer = Writer { server, http, serial: 0, _data: data };
        let account = json!({"metadata": {"name": "default"}});
        writer.create("/api/v1/namespaces/default/serviceaccounts", &account).await;
        writer.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &custom::definition()).await;
        while writer.send(&get(custom::COLLECTION.into(), JSON)).await.code != 200 {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        writer
    }

    pub fn process_id(&self) -> u32 {
        self.server.process_id()
    }

    /// Creates an object unless it exists.
    async fn create(&self, collection: &str, object: &Value) {
        let answer = self.send(&post(collection.to_owned(), object.to_string())).await;
        assert!([201, 409].contains(&answer.code), "POST {collection} {object}: {}", answer.text);
    }

    /// Stores the object without many elements that requests to a target change, and reads its
    /// version.
    ///
    /// # Errors
    ///
    /// The response, when the server rejects the object.
    pub async fn store_small(&self, target: &Target, serial: usize) -> Result<Stored, String> {
        let text = small(&target.object, serial);
        let is_review = target.set_up == SetUp::Nothing && target.subresource.is_empty();
        let created = self.send(&post(target.collection.clone(), text.clone())).await;
        // The pod of a binding may be absent.
        let is_served = matches!(created.code, 200 | 201) || (serial == 0 && matches!(created.code, 404 | 409));
        if !is_served {
            return Err(format!("The server refuses the sample of {target}: {text}: {}", created.text));
        }
        if is_review {
            return Ok(Stored { serial, version: String::new(), is_many: false });
        }
        let read = self.send(&get(one(target, serial), JSON)).await;
        Ok(Stored { serial, version: read.version, is_many: false })
    }

    /// Rereads the version of an object: controllers may have changed it.
    pub async fn refresh(&self, target: &Target, stored: &mut Stored) {
        if !stored.version.is_empty() {
            stored.version = self.send(&get(one(target, stored.serial), JSON)).await.version;
        }
    }

    /// Returns the number of a new object.
    pub fn next_serial(&mut self) -> usize {
        self.serial += 1;
        self.serial
    }

    /// Returns a request that creates an object with many elements.
    pub fn create_request(&self, place: &Place, serial: usize, method: Method, many: Many) -> Request {
        let target = &place.target;
        let (serial, is_dry) = match target.set_up {
            SetUp::Stored if method == Method::Create => (serial, false),
            // A subresource belongs to the small object.
            _ if !target.subresource.is_empty() => (0, true),
            _ => (serial, true),
        };
        let path = match target.subresource {
            "" => target.collection.clone(),
            subresource => format!("{}/{subresource}", one(target, serial)),
        };
        let text = place.object(serial, "", many);
        let (media_type, body) = encoded(place, method, text);
        Request {
            verb: Verb::POST,
            path: format!("{path}{}", if is_dry { "?dryRun=All" } else { "" }),
            media_type,
            body,
        }
    }

    /// Returns a request that changes an object.
    pub fn change_request(&self, place: &Place, stored: &Stored, method: Method, many: Many, is_dry: bool) -> Request {
        let target = &place.target;
        // Patches need no version: a controller may change the object meanwhile.
        let (serial, version) = (stored.serial, if method == Method::Update { stored.version.as_str() } else { "" });
        let (verb, media_type, body) = match method {
            Method::Apply => (Verb::PATCH, "application/apply-patch+yaml", place.object(serial, "", many)),
            Method::MergePatch => (Verb::PATCH, "application/merge-patch+json", place.object(serial, version, many)),
            Method::StrategicPatch => (Verb::PATCH, STRATEGIC, place.object(serial, version, many)),
            Method::OrderedPatch => (Verb::PATCH, STRATEGIC, place.ordered(serial, version, many)),
            Method::DeletingPatch => (Verb::PATCH, STRATEGIC, place.deleting(serial, version, many)),
            Method::JsonPatch => (Verb::PATCH, "application/json-patch+json", json_patch(place, many)),
            Method::JsonPatchEach => {
                (Verb::PATCH, "application/json-patch+json", json_patch_each(place, stored.is_many, many))
            }
            _ => (Verb::PUT, JSON, place.object(serial, version, many)),
        };
        let path = match target.subresource {
            "" => one(target, serial),
            subresource => format!("{}/{subresource}", one(target, serial)),
        };
        let dry = if is_dry { "&dryRun=All" } else { "" };
        let path =
            format!("{path}?fieldManager=growth{}{dry}", if method == Method::Apply { "&force=true" } else { "" });
        Request { verb, path, media_type, body: body.into_bytes() }
    }

    /// Returns a request that reads an object as a table.
    pub fn table_request(&self, target: &Target, stored: &Stored) -> Request {
        get(one(target, stored.serial), "application/json;as=Table;v=v1;g=meta.k8s.io")
    }

    pub async fn delete(&self, target: &Target, stored: &Stored) {
        let path = format!("{}?gracePeriodSeconds=0", one(target, stored.serial));
        self.send(&Request { verb: Verb::DELETE, path, media_type: JSON, body: Vec::new() }).await;
    }

    /// Sends a request and reads the response.
    pub async fn send(&self, request: &Request) -> Answer {
        let url = format!("{}{}", self.server.url, request.path);
        let builder = self.http.request(request.verb.clone(), url).bearer_auth("growth-token");
        let builder = match request.verb {
            Verb::GET => builder.header("Accept", request.media_type),
            _ => builder.header("Content-Type", request.media_type).body(request.body.clone()),
        };
        let response = builder.send().await.unwrap();
        let code = response.status().as_u16();
        let bytes = response.bytes().await.unwrap();
        let text = String::from_utf8_lossy(&bytes);
        let version = text.split_once("\"resourceVersion\":\"").and_then(|(_, rest)| rest.split('"').next());
        let version = version.unwrap_or_default().to_owned();
        Answer { code, version, text: text.chars().take(600).collect() }
    }
}

const STRATEGIC: &str = "application/strategic-merge-patch+json";

fn get(path: String, media_type: &'static str) -> Request {
    Request { verb: Verb::GET, path, media_type, body: Vec::new() }
}

fn post(path: String, text: String) -> Request {
    Request { verb: Verb::POST, path, media_type: JSON, body: text.into_bytes() }
}

/// Returns the text of an object without many elements.
fn small(object: &Value, serial: usize) -> String {
    object.to_string().replace(crate::samples::SERIAL, &serial.to_string())
}

/// Returns the path of an object.
fn one(target: &Target, serial: usize) -> String {
    let name = target.object["metadata"]["name"].as_str().unwrap();
    format!("{}/{}", target.collection, name.replace(crate::samples::SERIAL, &serial.to_string()))
}

fn encoded(place: &Place, method: Method, text: String) -> (&'static str, Vec<u8>) {
    let mut out = Vec::new();
    match method {
        Method::CreateYaml => {
            yaml::from_json(text.as_bytes(), &mut out).unwrap();
            ("application/yaml", out)
        }
        Method::CreateCbor => {
            cbor::from_json(text.as_bytes(), &mut out).unwrap();
            ("application/cbor", out)
        }
        Method::CreateProtobuf => {
            let kind = place.target.kind.unwrap();
            let mut value = Owned::new(kind.def);
            codec::decode(text.as_bytes(), value.as_mut(), &mut codec::Issues::ignore()).unwrap();
            envelope::encode_object(&kind.api_version(), kind.kind, value.as_ref(), &mut out);
            ("application/vnd.kubernetes.protobuf", out)
        }
        _ => (JSON, text.into_bytes()),
    }
}

fn json_patch(place: &Place, many: Many) -> String {
    let (pointer, value) = place.replacement(&place.container(many));
    format!(r#"[{{"op":"add","path":"{pointer}","value":{value}}}]"#)
}

/// Returns operations that append one element each to the existing elements.
fn json_patch_each(place: &Place, has_elements: bool, many: Many) -> String {
    let mut operations = Vec::with_capacity(many.count + 1);
    if !has_elements {
        let (pointer, value) = place.replacement(if place.is_map { "{}" } else { "[]" });
        operations.push(format!(r#"{{"op":"add","path":"{pointer}","value":{value}}}"#));
    }
    let pointer = place.steps.join("/");
    let add = |(index, value): (usize, &String)| {
        let last = if place.is_map { place.key(many.first + index).replace('/', "~1") } else { "-".into() };
        format!(r#"{{"op":"add","path":"/{pointer}/{last}","value":{value}}}"#)
    };
    operations.extend(place.elements(many).iter().enumerate().map(add));
    format!("[{}]", operations.join(","))
}
