//! The outcome of a process: decoding from kubelets and encoding for clients.

use machinery::status::Status;
use serde_json::{Value, json};

use crate::error::Error;

/// The outcome of a process.
#[derive(Debug, PartialEq, Eq)]
pub enum ProcessOutcome {
    Success,
    /// A non-zero exit code.
    Exit(u8),
    /// The process did not start, or its outcome is unknown.
    Failed(String),
}

impl ProcessOutcome {
    /// Decodes the error stream of a kubelet in a protocol (`errorDecoderV4` and its predecessors).
    pub fn read(bytes: &[u8], protocol: &str) -> Self {
        if bytes.is_empty() {
            return ProcessOutcome::Success;
        }
        let text = String::from_utf8_lossy(bytes);
        if !["v5.channel.k8s.io", "v4.channel.k8s.io"].contains(&protocol) {
            return ProcessOutcome::Failed(format!("error executing remote command: {text}"));
        }
        let wrong = |why: Error| ProcessOutcome::Failed(format!("error stream protocol error: {why}"));
        let status: Value = match serde_json::from_slice(bytes) {
            Ok(status) => status,
            Err(source) => return wrong(Error::Outcome { text: text.into_owned(), source }),
        };
        match (status["status"].as_str(), status["reason"].as_str()) {
            (Some("Success"), _) => ProcessOutcome::Success,
            (Some("Failure"), Some("NonZeroExitCode")) => exit_code(&status).unwrap_or_else(wrong),
            (Some("Failure"), _) => ProcessOutcome::Failed(status["message"].as_str().unwrap_or_default().to_owned()),
            _ => wrong(Error::UnknownOutcome),
        }
    }

    /// Encodes the Status for the client.
    pub fn to_json(&self) -> Value {
        match self {
            ProcessOutcome::Success => json!({"metadata": {}, "status": "Success"}),
            ProcessOutcome::Exit(code) => json!({
                "metadata": {},
                "status": "Failure",
                "message": format!(
                    "command terminated with non-zero exit code: command terminated with exit code {code}"
                ),
                "reason": "NonZeroExitCode",
                "details": {"causes": [{"reason": "ExitCode", "message": code.to_string()}]},
            }),
            ProcessOutcome::Failed(why) => Status::internal(why).to_value(),
        }
    }
}

fn exit_code(status: &Value) -> Result<ProcessOutcome, Error> {
    let Some(details) = status["details"].as_object() else { return Err(Error::NoDetails) };
    let causes = details.get("causes").and_then(Value::as_array).into_iter().flatten();
    let mut codes = causes.filter(|cause| cause["reason"] == "ExitCode");
    let code = codes.next().ok_or(Error::NoExitCode)?["message"].as_str().unwrap_or_default();
    code.parse().map(ProcessOutcome::Exit).map_err(|_| Error::ExitCode { code: code.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_outcomes_of_kubelets() {
        let failed = |why: &str| ProcessOutcome::Failed(why.to_owned());
        let check = |text: &str, protocol: &str, expect: ProcessOutcome| {
            assert_eq!(ProcessOutcome::read(text.as_bytes(), protocol), expect, "{text}");
        };
        let v4 = "v4.channel.k8s.io";
        check("", v4, ProcessOutcome::Success);
        check(r#"{"status":"Success"}"#, v4, ProcessOutcome::Success);
        let exit = ProcessOutcome::Exit(3).to_json().to_string();
        check(&exit, v4, ProcessOutcome::Exit(3));
        check(r#"{"status":"Failure","message":"no such file"}"#, v4, failed("no such file"));
        check("{}", v4, failed("error stream protocol error: unknown error"));
        let without = r#"{"status":"Failure","reason":"NonZeroExitCode"}"#;
        check(without, v4, failed("error stream protocol error: details must be set"));
        check("no such file", "v3.channel.k8s.io", failed("error executing remote command: no such file"));
    }
}
