//! Rights of other users, and admission policies.

use serde_json::{Value, json};

use super::value::ODD_STRINGS;
use super::{Generator, request};
use crate::conversation::Step;

/// Seconds until a change of rights or policies takes effect.
const SETTLED: f64 = 0.7;

/// Expressions of policies: valid, invalid and failing.
const EXPRESSIONS: &[&str] = &[
    "true",
    "false",
    "object.metadata.name == 'a'",
    "object.nothing == 1",
    "object.data.a == 'x'",
    "has(object.data)",
    "1",
    "object",
    "request.operation == 'CREATE'",
    "oldObject == null",
    "namespaceObject.metadata.name != ''",
    "params == null",
    "variables.v",
    "variables.nothing",
    "(",
    "",
    "object.metadata.labels['a'] == 'b'",
    "size(object.data) < 2",
    "'a' + 1",
    "request.userInfo.username == 'admin'",
    "authorizer.group('').resource('pods').check('get').allowed()",
    "object.data.all(k, k.startsWith('a'))",
    "quantity('1Gi').isGreaterThan(quantity('1M'))",
    "request.dryRun",
];

impl Generator<'_> {
    /// Roles and bindings of a user, and requests of this user.
    pub(super) fn rights(&mut self) {
        let rules = self.random.pick(&[
            json!([{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list"]}]),
            json!([{"apiGroups": ["*"], "resources": ["*"], "verbs": ["create"]}]),
            json!([{"apiGroups": [""], "resources": ["pods/log", "configmaps"], "resourceNames": ["a"],
                "verbs": ["*"]}]),
            json!([{"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["roles"], "verbs": ["create", "update",
                "patch"]}]),
            json!([{"apiGroups": ["apps"], "resources": ["deployments/scale", "deployments"], "verbs": ["update",
                "patch", "get"]}]),
            json!([]),
        ]).clone();
        let group = "/apis/rbac.authorization.k8s.io/v1/namespaces/${ns}";
        let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "r"},
            "rules": rules});
        let binding = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
            "metadata": {"name": "r"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "jane"}]});
        let step = request("POST", format!("{group}/roles")).body(role);
        self.push(step);
        let step = request("POST", format!("{group}/rolebindings")).body(binding);
        self.push(step);
        for at in 0..2 + self.random.below(4) {
            let mut step = self.request_of_user();
            step.pause = if at == 0 { SETTLED } else { 0.0 };
            step = step.header("Impersonate-User", "jane");
            if self.random.percent(15) {
                let extra =
                    [("Impersonate-Group", "system:masters"), ("Impersonate-Extra-a", "b"), ("Impersonate-Uid", "u")];
                let (name, value) = *self.random.pick(&extra);
                step = step.header(name, value);
            }
            self.push(step);
        }
    }

    fn request_of_user(&mut self) -> Step {
        let subject = self.subject();
        let path = subject.kind.collection();
        let one = format!("{path}/{}", self.random.pick(&["a", "b"]));
        let dry = "?dryRun=All";
        match self.random.below(9) {
            0 => request("GET", one),
            1 => request("GET", path),
            2 => request("POST", path + dry).body(subject.object),
            3 => request("PUT", one + dry).body(subject.object),
            4 => request("DELETE", one + dry),
            5 => request("PATCH", one).body(json!({})).header("Content-Type", "application/merge-patch+json"),
            6 => request("PATCH", one + "?fieldManager=m")
                .body(subject.object)
                .header("Content-Type", "application/apply-patch+yaml"),
            7 => {
                let rules = json!([{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}]);
                let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
                    "metadata": {"name": "more"}, "rules": rules});
                request("POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/${ns}/roles").body(role)
            }
            _ => request("GET", "/api/v1/namespaces/${ns}/pods/a/log"),
        }
    }

    /// A policy with its binding, then writes.
    pub(super) fn admission(&mut self) {
        let mutating = self.random.percent(45);
        let kind = if mutating { "MutatingAdmissionPolicy" } else { "ValidatingAdmissionPolicy" };
        let plural = if mutating { "mutatingadmissionpolicies" } else { "validatingadmissionpolicies" };
        let policy = self.policy(kind);
        let step = request("POST", format!("/apis/admissionregistration.k8s.io/v1/{plural}")).body(policy);
        self.push(step);
        let mut binding = json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": format!("{kind}Binding"),
            "metadata": {"name": "${rand}"}, "spec": {"policyName": "${rand}"}});
        if !mutating {
            binding["spec"]["validationActions"] =
                self.random.pick(&[json!(["Deny"]), json!(["Warn"]), json!(["Audit", "Warn"])]).clone();
        }
        super::restrict_to_conversation(&mut binding);
        let plural = format!("{kind}Bindings").to_lowercase();
        let step = request("POST", format!("/apis/admissionregistration.k8s.io/v1/{plural}")).body(binding);
        self.push(step);
        for at in 0..2 + self.random.below(3) {
            let data = self.random.pick(&[json!({"a": "x"}), json!({"a": "b", "c": "d"}), json!(null)]).clone();
            let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": self.random.pick(&["a",
                "b"])}, "data": data});
            let method = *self.random.pick(&["POST", "POST", "PUT"]);
            let path = if method == "PUT" { "/a" } else { "" };
            let query = self.write_query();
            let mut step = request(method, format!("/api/v1/namespaces/${{ns}}/configmaps{path}{query}")).body(object);
            step.pause = if at == 0 { 2.0 * SETTLED } else { 0.0 };
            self.push(step);
        }
    }

    fn policy(&mut self, kind: &str) -> Value {
        let resources =
            self.random.pick(&[json!(["configmaps"]), json!(["configmaps/*"]), json!(["*"]), json!(["*/*"])]).clone();
        let rules = json!([{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"],
            "resources": resources}]);
        let mut spec = json!({"failurePolicy": self.random.pick(&["Fail", "Ignore"]),
            "matchConstraints": {"resourceRules": rules}});
        if self.random.percent(30) {
            spec["matchConditions"] = json!([{"name": "a", "expression": self.random.pick(EXPRESSIONS)}]);
        }
        if self.random.percent(40) {
            spec["variables"] = json!([{"name": "v", "expression": self.random.pick(EXPRESSIONS)}]);
        }
        if kind == "MutatingAdmissionPolicy" {
            spec["reinvocationPolicy"] = json!("Never");
            let word = *self.random.pick(EXPRESSIONS);
            spec["mutations"] = self
                .random
                .pick(&[
                    json!([{"patchType": "ApplyConfiguration",
                    "applyConfiguration": {"expression": "Object{data: {'z': 'y'}}"}}]),
                    json!([{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression":
                    "Object{metadata: Object.metadata{labels: {'a': object.metadata.name}}}"}}]),
                    json!([{"patchType": "ApplyConfiguration",
                    "applyConfiguration": {"expression": "Object{spec: Object.spec{a: 1}}"}}]),
                    json!([{"patchType": "JSONPatch",
                    "jsonPatch": {"expression": "[JSONPatch{op: 'add', path: '/data', value: {'q': 'r'}}]"}}]),
                    json!([{"patchType": "JSONPatch",
                    "jsonPatch": {"expression": "[JSONPatch{op: 'remove', path: '/data/nothing'}]"}}]),
                    json!([{"patchType": "JSONPatch",
                    "jsonPatch": {"expression": "[JSONPatch{op: 'test', path: '/kind', value: 'Pod'}]"}}]),
                    json!([{"patchType": "JSONPatch", "jsonPatch": {"expression": word}}]),
                ])
                .clone();
        } else {
            let mut validation = json!({"expression": self.random.pick(EXPRESSIONS)});
            if self.random.percent(40) {
                validation["message"] = json!(self.random.pick(ODD_STRINGS));
            }
            if self.random.percent(30) {
                validation["messageExpression"] =
                    json!(self.random.pick(&["'m ' + object.metadata.name", "object.nothing", "1", "''"]));
            }
            if self.random.percent(30) {
                validation["reason"] =
                    json!(self.random.pick(&["Invalid", "Forbidden", "RequestEntityTooLarge", "Bad", ""]));
            }
            spec["validations"] = json!([validation]);
        }
        json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": {"name": "${rand}"},
            "spec": spec})
    }
}
