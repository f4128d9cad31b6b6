//! Maps the claims of a token to a user (upstream: `jwtAuthenticator`, `authentication/cel`).

use std::collections::BTreeMap;

use cel::{CostBudget, Program, Type, Value as Cel};
use request::User;
use serde_json::{Number, Value, json};

use crate::Error;
use crate::texts::texts;

/// The names of the CEL variables.
pub(super) const CLAIMS: &str = "claims";
pub(super) const USER: &str = "user";
/// The key of the extra field that identifies the credential.
const CREDENTIAL_ID: &str = "authentication.kubernetes.io/credential-id";

/// The compiled claim mappings and validation rules of an issuer.
#[derive(Debug, Default)]
pub(super) struct CompiledClaimMappings {
    pub username: AttributeSource,
    pub groups: AttributeSource,
    pub uid: AttributeSource,
    /// Keys of extra fields, and the expressions for their values.
    pub extra: Vec<(String, Program)>,
    /// Required claims and their values.
    pub required: Vec<(String, String)>,
    /// Conditions on the claims.
    pub claim_rules: Vec<CompiledRule>,
    /// Conditions on the user.
    pub user_rules: Vec<CompiledRule>,
}

/// The source of an attribute of the user.
#[derive(Debug, Default)]
pub(super) enum AttributeSource {
    #[default]
    Unset,
    Claim {
        name: String,
        prefix: String,
    },
    Expression(Program),
}

/// An expression that has to evaluate to true.
#[derive(Debug)]
pub(super) struct CompiledRule {
    pub program: Program,
    pub message: String,
}

impl CompiledClaimMappings {
    /// Maps claims to a user. The caller has verified the signature, audience and validity period of the token.
    pub fn user(&self, claims: &Value) -> Result<User, Error> {
        let cel_claims = Claims::new(claims);
        let mut user = User { name: self.name(claims, &cel_claims)?, ..User::default() };
        user.groups = self.groups(claims, &cel_claims)?;
        user.uid = self.uid(claims, &cel_claims)?;
        user.extra = self.extra(claims, &cel_claims)?;
        self.check_required(claims)?;
        check_rules(&self.claim_rules, CLAIMS, &cel_claims.0, &claims_type())
            .map_err(Error::expression("claim validation expression"))?;
        check_user(&self.user_rules, &user)?;
        Ok(user)
    }

    fn name(&self, claims: &Value, cel_claims: &Claims) -> Result<String, Error> {
        let wrong = Error::expression("username claim expression");
        match &self.username {
            AttributeSource::Unset => Err(wrong(Error::NoUsername)),
            AttributeSource::Claim { name, prefix } => {
                let value = claim(claims, name, || format!("username claims {name:?}"))?;
                if name == "email" && claims.get("email_verified").is_some_and(|verified| *verified != true) {
                    return Err(Error::EmailNotVerified);
                }
                Ok(format!("{prefix}{value}"))
            }
            AttributeSource::Expression(program) => {
                let result = cel_claims.evaluate(program).map_err(&wrong)?;
                match result.as_str() {
                    None => Err(wrong(Error::NotAString("username"))),
                    Some("") => Err(Error::EmptyUsername),
                    Some(name) => Ok(name.to_owned()),
                }
            }
        }
    }

    fn groups(&self, claims: &Value, cel_claims: &Claims) -> Result<Vec<String>, Error> {
        match &self.groups {
            AttributeSource::Unset => Ok(Vec::new()),
            AttributeSource::Claim { name, prefix } => {
                let groups = match &claims[name] {
                    Value::String(one) => vec![one.clone()],
                    several => texts(several),
                };
                Ok(groups.into_iter().map(|group| format!("{prefix}{group}")).collect())
            }
            AttributeSource::Expression(program) => cel_claims
                .evaluate(program)
                .and_then(|result| strings(&result))
                .map_err(Error::expression("group claim expression")),
        }
    }

    fn uid(&self, claims: &Value, cel_claims: &Claims) -> Result<String, Error> {
        let wrong = Error::expression("uid claim expression");
        match &self.uid {
            AttributeSource::Unset => Ok(String::new()),
            AttributeSource::Claim { name, .. } => {
                claim(claims, name, || format!("uid claim {name:?}")).map(str::to_owned)
            }
            AttributeSource::Expression(program) => {
                let result = cel_claims.evaluate(program).map_err(&wrong)?;
                let uid = result.as_str().ok_or_else(|| wrong(Error::NotAString("uid")))?;
                Ok(uid.to_owned())
            }
        }
    }

    fn extra(&self, claims: &Value, cel_claims: &Claims) -> Result<BTreeMap<String, Vec<String>>, Error> {
        let mut extra = BTreeMap::new();
        if let Some(id) = claims["jti"].as_str().filter(|id| !id.is_empty()) {
            extra.insert(CREDENTIAL_ID.to_owned(), vec![format!("JTI={id}")]);
        }
        for (key, program) in &self.extra {
            let values = cel_claims.evaluate(program).and_then(|result| strings(&result));
            let of = || format!("extra claim expression: {}", program.source());
            let values = values.map_err(|why| Error::expression(of())(why))?;
            if !values.is_empty() {
                extra.insert(key.clone(), values);
            }
        }
        Ok(extra)
    }

    fn check_required(&self, claims: &Value) -> Result<(), Error> {
        for (name, wanted) in &self.required {
            if claims.get(name).is_none() {
                return Err(Error::NoRequiredClaim(name.clone()));
            }
            let value = claim(claims, name, || format!("claim {name}"))?;
            if value != wanted {
                let (name, got, wanted) = (name.clone(), value.to_owned(), wanted.clone());
                return Err(Error::ClaimValue { name, got, wanted });
            }
        }
        Ok(())
    }
}

/// Returns the string value of a claim. `place` describes the claim in an error.
fn claim<'c>(claims: &'c Value, name: &str, place: impl FnOnce() -> String) -> Result<&'c str, Error> {
    let found = claims.get(name).ok_or(Error::NoClaim);
    let found = found.and_then(|value| value.as_str().ok_or(Error::ClaimType));
    found.map_err(|source| Error::Claim { place: place(), source: Box::new(source) })
}

/// The value of the CEL variable `claims`.
struct Claims(Value);

impl Claims {
    /// Converts every number to a double, as upstream does.
    fn new(claims: &Value) -> Self {
        let mut claims = claims.clone();
        make_doubles(&mut claims);
        Claims(claims)
    }

    fn evaluate<'a>(&'a self, program: &'a Program) -> Result<Cel<'a>, Error> {
        let variables = [(CLAIMS, Cel::untyped(&self.0))];
        Ok(program.evaluate(&variables, &mut CostBudget::default())?)
    }
}

fn make_doubles(value: &mut Value) {
    match value {
        Value::Number(number) => {
            if let Some(double) = number.as_f64().and_then(Number::from_f64) {
                *number = double;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(make_doubles),
        Value::Object(members) => members.values_mut().for_each(make_doubles),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// The type of `claims`.
pub(super) fn claims_type() -> Type {
    Type::map(Type::String, Type::Dyn)
}

/// The type of `user`.
pub(super) fn user_type() -> Type {
    Type::object(cel::ObjectType::new(
        "kubernetes.UserInfo",
        [
            ("username", Type::String),
            ("uid", Type::String),
            ("groups", Type::list(Type::String)),
            ("extra", Type::map(Type::String, Type::list(Type::String))),
        ],
    ))
}

fn check_user(rules: &[CompiledRule], user: &User) -> Result<(), Error> {
    if rules.is_empty() {
        return Ok(());
    }
    let document = json!({"username": user.name, "uid": user.uid, "groups": user.groups, "extra": user.extra});
    check_rules(rules, USER, &document, &user_type()).map_err(Error::expression("user info validation rule"))
}

/// Evaluates rules on a document.
///
/// # Errors
/// The first rule that is false or fails.
fn check_rules(rules: &[CompiledRule], variable: &str, document: &Value, of: &Type) -> Result<(), Error> {
    for rule in rules {
        let variables = [(variable, Cel::json(document, of))];
        match rule.program.evaluate(&variables, &mut CostBudget::default()) {
            Ok(Cel::Bool(true)) => {}
            Ok(Cel::Bool(false)) => {
                let (expression, message) = (rule.program.source().to_owned(), rule.message.clone());
                return Err(Error::Rule { expression, message });
            }
            Ok(_) => return Err(Error::RuleType),
            Err(why) => return Err(why.into()),
        }
    }
    Ok(())
}

/// A string or a list of strings, without empty ones (`convertCELValueToStringList`).
fn strings(value: &Cel<'_>) -> Result<Vec<String>, Error> {
    let all = match value.to_json().map_err(|_| Error::NotStrings)? {
        Value::Null => Vec::new(),
        Value::String(text) => vec![text],
        Value::Array(items) => {
            let texts = items.iter().map(|item| item.as_str().map(str::to_owned)).collect::<Option<_>>();
            texts.ok_or(Error::NotStrings)?
        }
        _ => return Err(Error::NotStrings),
    };
    Ok(all.into_iter().filter(|text| !text.is_empty()).collect())
}
