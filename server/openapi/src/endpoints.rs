//! Paths that do not belong to a resource: discovery, `/version`, keys of service account tokens,
//! logs.

use crate::catalog::GroupVersion;
use crate::catalog::Parameter;
use crate::item::{Content, Item, Operation};
use crate::media;
use crate::names;
use crate::options::OpenApiOptions;

/// Definition names of the discovery responses.
pub(crate) struct DiscoveryDefinitions {
    api_versions: String,
    api_group: String,
    api_group_list: String,
    api_resource_list: String,
}

impl DiscoveryDefinitions {
    pub(crate) fn new() -> Self {
        DiscoveryDefinitions {
            api_versions: names::meta("APIVersions"),
            api_group: names::meta("APIGroup"),
            api_group_list: names::meta("APIGroupList"),
            api_resource_list: names::meta("APIResourceList"),
        }
    }

    /// The path `/apis/`.
    pub(crate) fn groups(&self) -> Item<'_> {
        let operation = discovery("getAPIVersions", "apis", "Lists the API groups.", &self.api_group_list);
        item("/apis/".into(), operation)
    }

    /// The path `/api/` or `/apis/<group>/`.
    pub(crate) fn group(&self, group: &str) -> Item<'_> {
        let tag = names::group_tag(group);
        if group.is_empty() {
            let description = "Lists the versions of the core group.";
            return item("/api/".into(), discovery("getCoreAPIVersions", &tag, description, &self.api_versions));
        }
        let id = format!("get{}APIGroup", names::group_id(group));
        item(format!("/apis/{group}/"), discovery(&id, &tag, "Lists the versions of one API group.", &self.api_group))
    }

    /// The path `/apis/<group>/<version>/`.
    pub(crate) fn resources(&self, version: &GroupVersion) -> Item<'_> {
        let id = format!("get{}APIResources", names::group_version_id(&version.group, &version.version));
        let tag = names::group_version_tag(&version.group, &version.version);
        let description = "Lists the resources of one group version.";
        item(format!("{}/", version.path()), discovery(&id, &tag, description, &self.api_resource_list))
    }
}

/// The paths outside `/api` and `/apis`.
pub(crate) fn well_known(options: &OpenApiOptions) -> Vec<Item<'static>> {
    let mut items = vec![version()];
    if options.service_account_issuer {
        items.push(text(
            "/.well-known/openid-configuration/",
            "WellKnown",
            "getServiceAccountIssuerOpenIDConfiguration",
            "Describes the issuer of service account tokens to relying parties.",
            media::JSON,
        ));
        items.push(text(
            "/openid/v1/jwks/",
            "openid",
            "getServiceAccountIssuerOpenIDKeyset",
            "The keys that service account tokens are verified with.",
            media::JWK_SET,
        ));
    }
    if options.logs {
        items.push(text("/logs/", "logs", "logFileListHandler", "Lists log files.", media::ANY));
        let mut file = text("/logs/{logpath}", "logs", "logFileHandler", "Reads one log file.", media::ANY);
        file.in_path.push(Parameter {
            name: "logpath".into(),
            kind: "string".into(),
            description: "Path of the log file.".into(),
        });
        items.push(file);
    }
    items
}

fn version() -> Item<'static> {
    let operation = Operation {
        consumes: media::JSON,
        produces: media::JSON,
        ..discovery("getCodeVersion", "version", "Reads version information of the server.", names::VERSION_INFO)
    };
    item("/version/".into(), operation)
}

fn text(path: &str, tag: &str, id: &str, description: &str, produces: &'static [&'static str]) -> Item<'static> {
    let operation = Operation {
        answers: vec![(200, Content::Text)],
        consumes: media::ANY,
        produces,
        ..discovery(id, tag, description, "")
    };
    item(path.into(), operation)
}

fn item(path: String, operation: Operation<'_>) -> Item<'_> {
    let mut item = Item::new(path, Vec::new());
    item.operations.push(operation);
    item
}

fn discovery<'a>(id: &str, tag: &str, description: &str, definition: &'a str) -> Operation<'a> {
    Operation {
        method: "get",
        id: id.into(),
        tag: tag.into(),
        description: description.into(),
        action: None,
        kind: None,
        query: Vec::new(),
        body: None,
        answers: vec![(200, Content::Definition(definition))],
        consumes: media::OBJECT,
        produces: media::OBJECT,
    }
}
