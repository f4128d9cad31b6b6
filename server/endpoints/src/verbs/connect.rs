//! Requests that are passed on to what a resource stands for (`ConnectResource`).

use machinery::def::StructDef;
use machinery::reflect::{ListMut, OneMut, OptMut, Owned, Slot};
use machinery::scalar::Time;
use machinery::status::Status;
use serving::{Query, Request, RequestInfo, Response};

use super::Call;
use crate::admission::Operation;
use crate::endpoint::{Connected, Endpoint, SubresourceHandler};

/// Has the handler connect.
pub async fn connect(
    endpoint: &Endpoint,
    handler: &dyn SubresourceHandler,
    call: Call,
    request: Request,
) -> Result<Response, Status> {
    let of_options = endpoint.of_bodies(&call.info.subresource)?;
    let attributes = call.attributes(&of_options, Operation::Connect, &call.info.name, false);
    let context = call.context(endpoint, false);
    let (info, query) = (&*call.info, &call.info.query);
    handler.connect(Connected { endpoint, context: &context, attributes: &attributes, info, query }, request).await
}

/// Query parameters as the kind of options that a connection takes (`runtime.ParameterCodec`). What they do not name is at its zero value.
///
/// # Errors
/// When a parameter is no value of its field.
pub(crate) fn options(def: &'static StructDef, query: &Query) -> Result<Owned, Status> {
    let mut options = Owned::new(def);
    for field in def.json_fields() {
        let Some(first) = query.get(field.json) else { continue };
        let mut into = options.as_mut();
        let Some(slot) = into.by_name(field.json) else { continue };
        match slot {
            Slot::One(OneMut::Bool(flag)) => *flag = query.flag(field.json),
            Slot::One(OneMut::String(text)) => first.clone_into(text),
            Slot::Opt(OptMut::String(text)) => *text = Some(first.to_owned()),
            Slot::Opt(OptMut::I64(number)) => *number = query.number(field.json)?,
            Slot::Opt(OptMut::Time(time)) if !first.is_empty() => {
                *time = Some(Time::parse(first).map_err(|why| Status::bad_request(why.to_string()))?);
            }
            Slot::List(ListMut::String(texts)) => *texts = query.all(field.json).map(str::to_owned).collect(),
            Slot::List(ListMut::I32(numbers)) => *numbers = query.numbers(field.json)?,
            _ => {}
        }
    }
    Ok(options)
}

/// The path behind a subresource, as a connection hands it on (`getRequestOptions` of a subresource with a subpath).
pub(crate) fn subpath(info: &RequestInfo) -> String {
    let rest = info.rest.as_str();
    let mut path = if rest.is_empty() || rest.starts_with('/') { rest.to_owned() } else { format!("/{rest}") };
    if info.path.ends_with('/') && !path.ends_with('/') {
        path.push('/');
    }
    path
}

#[cfg(test)]
mod tests {
    use http::Method;

    use super::*;

    #[test]
    fn what_follows_the_subresource_is_handed_on() {
        let check = |rest: &str, expect: &str| {
            let uri = format!("/api/v1/namespaces/a/pods/b/proxy{rest}").parse().unwrap();
            assert_eq!(subpath(&RequestInfo::new(&Method::GET, &uri).unwrap()), expect, "{rest}");
        };
        check("", "");
        check("/", "/");
        check("/c", "/c");
        check("/c/d/", "/c/d/");
        check("//c", "/c");
        check("/c%20d", "/c d");
    }
}
