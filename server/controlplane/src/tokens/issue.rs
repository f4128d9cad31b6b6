//! Issuance of service account tokens: `serviceaccounts/token`
//! (`registry/core/serviceaccount/storage/token.go`).

use std::sync::Arc;

use apimachinery::meta::v1::ObjectMeta;
use async_trait::async_trait;
use authn::tokens::ServiceAccountKeys;
use endpoints::{CreateRequest, SubresourceHandler, SubresourceOutput};
use generated::authentication::v1::{BoundObjectReference, TokenRequest, TokenRequestStatus};
use generated::core::v1::ServiceAccount;
use machinery::catalog::parse_api_version;
use machinery::field_error::FieldError;
use machinery::field_path::Path;
use machinery::reflect::Owned;
use machinery::scalar::Time;
use machinery::status::{GroupResource, Status};
use options::Options;
use registry::Clock;
use request::user::service_account_user_name;

use super::claims::{Claims, Kubernetes, NumericDate, Reference};
use super::token_getter::ServiceAccountTokenGetter;
use crate::reviews::typed;

const KIND: GroupResource<'static> = GroupResource { group: "authentication.k8s.io", resource: "TokenRequest" };
/// The lifetime that admission requests, in seconds. It is not a round number, so that it differs
/// from users' requests.
const WARN_ONLY: i64 = 60 * 60 + 7;
/// The extended lifetime of such a token in seconds, for clients that do not renew tokens.
const EXTENDED: i64 = 24 * 365 * 60 * 60;
const MIN_LIFE: i64 = 10 * 60;
const MAX_LIFE: i64 = 1 << 32;

/// The audit annotation with the ID of the issued token (`IssuedCredentialIDAuditAnnotationKey`).
const ISSUED: &str = "authentication.kubernetes.io/issued-credential-id";

/// Handler of token requests.
pub struct Issuer {
    pub lookup: ServiceAccountTokenGetter,
    pub options: Arc<Options>,
    pub clock: Arc<dyn Clock>,
    pub keys: ServiceAccountKeys,
}

#[async_trait]
impl SubresourceHandler for Issuer {
    fn keeps_system_fields(&self) -> bool {
        // The UID in the request selects one of several consecutive accounts with the same name.
        true
    }

    async fn create(&self, create_request: CreateRequest<'_>) -> Result<SubresourceOutput, Status> {
        let mut request: TokenRequest = typed(create_request.body.clone())?;
        let (namespace, name) = (&create_request.attributes.namespace, &create_request.attributes.name);
        check_names(&request.metadata, namespace, name)?;
        let account = self.lookup.account(namespace, name).await?;
        fill(&mut request, &account, &self.options.authentication.api_audiences)?;
        let now = self.clock.now();
        request.metadata.creation_timestamp = now;
        request.status = TokenRequestStatus::default();
        check_life(request.spec.expiration_seconds.unwrap_or_default())?;
        create_request.validate().await?;
        let bound = match request.spec.bound_object_ref.as_deref() {
            Some(reference) => self.bind(namespace, name, reference).await?,
            None => Kubernetes::default(),
        };
        let seconds = self.limited(&create_request, &request);
        request.spec.expiration_seconds = Some(seconds);
        let id = uuid::Uuid::new_v4().to_string();
        request.status.token = self.sign(&request, &account, (bound, &id), now).await?;
        create_request.attributes.trail.annotate(ISSUED, format!("JTI={id}"));
        request.status.expiration_timestamp = Time::from_unix(now.unix() + seconds);
        Ok(SubresourceOutput::Object(Owned::of(request)))
    }
}

/// Requires that names in the body match the path.
fn check_names(meta: &ObjectMeta, namespace: &str, name: &str) -> Result<(), Status> {
    let metadata = Path::new("metadata");
    let refuse = |field: &str, value: &str| {
        let detail = format!("must match the service account {field} if specified");
        Err(Status::invalid(KIND, name, &[FieldError::invalid(&metadata.child(field), value, detail)]))
    };
    if !meta.name.is_empty() && meta.name != name {
        return refuse("name", &meta.name);
    }
    if !meta.namespace.is_empty() && meta.namespace != namespace {
        return refuse("namespace", &meta.namespace);
    }
    Ok(())
}

/// Completes a request from the account and the API audiences.
fn fill(request: &mut TokenRequest, account: &ServiceAccount, audiences: &[String]) -> Result<(), Status> {
    let (meta, own) = (&mut request.metadata, &account.metadata);
    if !meta.uid.is_empty() && meta.uid != own.uid {
        let why = format!(
            "the UID in the token request ({}) does not match the UID of the service account ({})",
            meta.uid, own.uid
        );
        return Err(Status::conflict(KIND, &own.name, why));
    }
    meta.name.clone_from(&own.name);
    meta.namespace.clone_from(&own.namespace);
    meta.uid.clone_from(&own.uid);
    if request.spec.audiences.is_empty() {
        request.spec.audiences = audiences.to_vec();
    }
    Ok(())
}

/// `ValidateTokenRequest`
fn check_life(seconds: i64) -> Result<(), Status> {
    let detail = match seconds {
        ..MIN_LIFE => "may not specify a duration less than 10 minutes",
        MIN_LIFE..=MAX_LIFE => return Ok(()),
        _ => "may not specify a duration larger than 2^32 seconds",
    };
    Err(Status::invalid(KIND, "", &[FieldError::invalid(&Path::new("spec.expirationSeconds"), seconds, detail)]))
}

impl Issuer {
    /// Builds the claims that bind a token to an object.
    async fn bind(&self, namespace: &str, account: &str, to: &BoundObjectReference) -> Result<Kubernetes, Status> {
        let (group, version) = parse_api_version(&to.api_version);
        let mut bound = Kubernetes::default();
        let reference = |meta: &ObjectMeta| Reference { name: meta.name.clone(), uid: meta.uid.clone() };
        let uid = match (group, to.kind.as_str()) {
            ("", "Pod") => {
                let pod = self.lookup.pod(namespace, &to.name).await?;
                if pod.spec.service_account_name != account {
                    return Err(Status::bad_request(format!(
                        "cannot bind token for serviceaccount {account:?} to pod running with different serviceaccount name."
                    )));
                }
                bound.node = self.node_of(&pod.spec.node_name).await?;
                bound.pod = Some(reference(&pod.metadata));
                pod.metadata.uid
            }
            ("", "Node") => {
                let node = self.lookup.node(&to.name).await?;
                bound.node = Some(reference(&node.metadata));
                node.metadata.uid
            }
            ("", "Secret") => {
                let secret = self.lookup.secret(namespace, &to.name).await?;
                bound.secret = Some(reference(&secret.metadata));
                secret.metadata.uid
            }
            (group, kind) => {
                let what = format!("{group}/{version}, Kind={kind}");
                return Err(Status::bad_request(format!("cannot bind token to object of type {what}")));
            }
        };
        if !to.uid.is_empty() && to.uid != uid {
            let why = format!(
                "the UID in the bound object reference ({}) does not match the UID in record. The object might have been deleted and then recreated",
                to.uid
            );
            return Err(Status::conflict(GroupResource { group, resource: &to.kind }, &to.name, why));
        }
        Ok(bound)
    }

    /// Returns the node of a pod; without a UID when the node does not exist.
    async fn node_of(&self, name: &str) -> Result<Option<Reference>, Status> {
        if name.is_empty() {
            return Ok(None);
        }
        match self.lookup.node(name).await {
            Ok(node) => Ok(Some(Reference { name: name.to_owned(), uid: node.metadata.uid })),
            Err(status) if status.code == 404 => Ok(Some(Reference { name: name.to_owned(), ..Reference::default() })),
            Err(status) => Err(Status::internal(status.message)),
        }
    }

    /// Returns the granted lifetime in seconds, and adds a warning if it is shortened.
    fn limited(&self, create_request: &CreateRequest<'_>, request: &TokenRequest) -> i64 {
        let requested_seconds = request.spec.expiration_seconds.unwrap_or_default();
        let signer = self.keys.max_token_expiration();
        let limit = self.options.authentication.service_account_max_expiration.or(signer);
        match limit.map(|limit| limit.as_secs() as i64).filter(|limit| requested_seconds > *limit) {
            Some(limit) => {
                let text = format!("requested expiration of {requested_seconds} seconds shortened to {limit} seconds");
                create_request.context.warnings.add(&text);
                limit
            }
            None => requested_seconds,
        }
    }

    /// Returns the extended lifetime in seconds, limited by the signer.
    fn longest_extended(&self) -> i64 {
        let signer = self.keys.max_token_expiration();
        signer.map_or(EXTENDED, |life| EXTENDED.min(life.as_secs() as i64))
    }

    async fn sign(
        &self,
        request: &TokenRequest,
        account: &ServiceAccount,
        (bound, id): (Kubernetes, &str),
        now: Time,
    ) -> Result<String, Status> {
        let options = &self.options.authentication;
        let requested_seconds = request.spec.expiration_seconds.unwrap_or_default();
        let for_api_server = request.spec.audiences.iter().all(|audience| options.api_audiences.contains(audience));
        let extended = options.service_account_extend_expiration
            && bound.pod.is_some()
            && requested_seconds == WARN_ONLY
            && for_api_server;
        let (begin, life) = (now.unix(), if extended { self.longest_extended() } else { requested_seconds });
        let meta = &account.metadata;
        let claims = Claims {
            audiences: request.spec.audiences.clone(),
            expires: Some(NumericDate(begin + life)),
            issued: Some(NumericDate(begin)),
            issuer: options.service_account_issuers.first().cloned().unwrap_or_default(),
            id: id.to_owned(),
            kubernetes: Kubernetes {
                namespace: meta.namespace.clone(),
                account: Reference { name: meta.name.clone(), uid: meta.uid.clone() },
                warn_after: extended.then_some(NumericDate(begin + requested_seconds)),
                ..bound
            },
            not_before: Some(NumericDate(begin)),
            subject: service_account_user_name(&meta.namespace, &meta.name),
        };
        let failed = |why: String| Status::internal(format!("failed to generate token: {why}"));
        let text = serde_json::to_vec(&claims).map_err(|e| failed(e.to_string()))?;
        self.keys.sign(&text).await.map_err(|why| failed(why.to_string()))
    }
}
