//! What kubelets call to see how containers are, and when they start and stop.

use machinery::field_path::Path;
use machinery::format;
use machinery::hooks::Validation;
use machinery::scalar::IntOrString;

use super::exclusive::Exclusive;
use super::ports::validate_port_or_name;
use generated::core::v1::{
    ExecAction, GRPCAction, HTTPGetAction, Lifecycle, LifecycleHandler, PodOS, Probe, SleepAction, TCPSocketAction,
};

const ONE_HANDLER: &str = "may not specify more than 1 handler type";
const SCHEMES: [&str; 2] = ["HTTP", "HTTPS"];
const WINDOWS_SIGNALS: [&str; 2] = ["SIGKILL", "SIGTERM"];
#[rustfmt::skip]
const LINUX_SIGNALS: [&str; 65] = [
    "SIGABRT", "SIGALRM", "SIGBUS", "SIGCHLD", "SIGCLD", "SIGCONT", "SIGFPE", "SIGHUP", "SIGILL", "SIGINT", "SIGIO", "SIGIOT",
    "SIGKILL", "SIGPIPE", "SIGPOLL", "SIGPROF", "SIGPWR", "SIGQUIT", "SIGRTMAX", "SIGRTMAX-1", "SIGRTMAX-10", "SIGRTMAX-11",
    "SIGRTMAX-12", "SIGRTMAX-13", "SIGRTMAX-14", "SIGRTMAX-2", "SIGRTMAX-3", "SIGRTMAX-4", "SIGRTMAX-5", "SIGRTMAX-6",
    "SIGRTMAX-7", "SIGRTMAX-8", "SIGRTMAX-9", "SIGRTMIN", "SIGRTMIN+1", "SIGRTMIN+10", "SIGRTMIN+11", "SIGRTMIN+12",
    "SIGRTMIN+13", "SIGRTMIN+14", "SIGRTMIN+15", "SIGRTMIN+2", "SIGRTMIN+3", "SIGRTMIN+4", "SIGRTMIN+5", "SIGRTMIN+6",
    "SIGRTMIN+7", "SIGRTMIN+8", "SIGRTMIN+9", "SIGSEGV", "SIGSTKFLT", "SIGSTOP", "SIGSYS", "SIGTERM", "SIGTRAP", "SIGTSTP",
    "SIGTTIN", "SIGTTOU", "SIGURG", "SIGUSR1", "SIGUSR2", "SIGVTALRM", "SIGWINCH", "SIGXCPU", "SIGXFSZ",
];

/// The three probes of a container.
#[derive(Clone, Copy)]
pub(super) struct Probes<'c> {
    pub liveness: Option<&'c Probe>,
    pub readiness: Option<&'c Probe>,
    pub startup: Option<&'c Probe>,
}

impl Probes<'_> {
    /// `validateLivenessProbe`, `validateReadinessProbe`, `validateStartupProbe`
    pub fn validate(self, v: &mut Validation<'_>, path: &Path<'_>) {
        if let Some(probe) = self.liveness {
            validate_probe(v, &path.child("livenessProbe"), probe);
            validate_success_once(v, &path.child("livenessProbe.successThreshold"), probe);
        }
        if let Some(probe) = self.readiness {
            let path = path.child("readinessProbe");
            validate_probe(v, &path, probe);
            if let Some(seconds) = probe.termination_grace_period_seconds {
                let path = path.child("terminationGracePeriodSeconds");
                v.invalid(&path, seconds, "must not be set for readinessProbes");
            }
        }
        if let Some(probe) = self.startup {
            validate_probe(v, &path.child("startupProbe"), probe);
            validate_success_once(v, &path.child("startupProbe.successThreshold"), probe);
        }
    }
}

fn validate_success_once(v: &mut Validation<'_>, path: &Path<'_>, probe: &Probe) {
    if probe.success_threshold != 1 {
        v.invalid(path, probe.success_threshold, "must be 1");
    }
}

/// `validateProbe`
fn validate_probe(v: &mut Validation<'_>, path: &Path<'_>, probe: &Probe) {
    let handler = &probe.handler;
    let mut types = Exclusive::new(v, path, ONE_HANDLER);
    types
        .member("exec", &handler.exec, validate_exec)
        .member("httpGet", &handler.http_get, validate_http_get)
        .member("tcpSocket", &handler.tcp_socket, validate_tcp_socket)
        .member("grpc", &handler.grpc, validate_grpc);
    if !types.found() {
        v.required(path, "must specify a handler type");
    }
    for (field, number) in [
        ("initialDelaySeconds", probe.initial_delay_seconds),
        ("timeoutSeconds", probe.timeout_seconds),
        ("periodSeconds", probe.period_seconds),
        ("successThreshold", probe.success_threshold),
        ("failureThreshold", probe.failure_threshold),
    ] {
        v.not_negative(&path.child(field), number);
    }
    if let Some(seconds) = probe.termination_grace_period_seconds.filter(|seconds| *seconds <= 0) {
        v.invalid(&path.child("terminationGracePeriodSeconds"), seconds, "must be greater than 0");
    }
}

/// `validateLifecycle`; `grace_period` is that of the pod.
pub(super) fn validate_lifecycle(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    lifecycle: &Lifecycle,
    grace_period: Option<i64>,
    os: Option<&PodOS>,
) {
    if let Some(handler) = lifecycle.post_start.as_deref() {
        validate_lifecycle_handler(v, &path.child("postStart"), handler, grace_period);
    }
    if let Some(handler) = lifecycle.pre_stop.as_deref() {
        validate_lifecycle_handler(v, &path.child("preStop"), handler, grace_period);
    }
    if let Some(signal) = &lifecycle.stop_signal {
        validate_stop_signal(v, &path.child("stopSignal"), signal, os);
    }
}

fn validate_lifecycle_handler(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    handler: &LifecycleHandler,
    grace_period: Option<i64>,
) {
    let mut types = Exclusive::new(v, path, ONE_HANDLER);
    types
        .member("exec", &handler.exec, validate_exec)
        .member("httpGet", &handler.http_get, validate_http_get)
        .member("tcpSocket", &handler.tcp_socket, validate_tcp_socket)
        .member("sleep", &handler.sleep, |v, path, sleep| validate_sleep(v, path, sleep, grace_period));
    if !types.found() {
        v.required(path, "must specify a handler type");
    }
}

fn validate_exec(v: &mut Validation<'_>, path: &Path<'_>, exec: &ExecAction) {
    if exec.command.is_empty() {
        v.required(&path.child("command"), "");
    }
}

/// `validateHTTPGetAction`; all wrong headers are reported at the list.
fn validate_http_get(v: &mut Validation<'_>, path: &Path<'_>, http: &HTTPGetAction) {
    v.filled(&path.child("path"), &http.path);
    validate_port_or_name(v, &path.child("port"), &http.port);
    v.one_of(&path.child("scheme"), &http.scheme, &SCHEMES);
    for header in &http.http_headers {
        v.malformed(&path.child("httpHeaders"), &header.name, format::is_http_header_name(&header.name));
    }
}

fn validate_tcp_socket(v: &mut Validation<'_>, path: &Path<'_>, socket: &TCPSocketAction) {
    validate_port_or_name(v, &path.child("port"), &socket.port);
}

fn validate_grpc(v: &mut Validation<'_>, path: &Path<'_>, grpc: &GRPCAction) {
    validate_port_or_name(v, &path.child("port"), &IntOrString::Int(grpc.port));
}

fn validate_sleep(v: &mut Validation<'_>, path: &Path<'_>, sleep: &SleepAction, grace_period: Option<i64>) {
    if let Some(period) = grace_period.filter(|period| sleep.seconds < 0 || sleep.seconds > *period) {
        let detail = format!("must be non-negative and less than terminationGracePeriodSeconds ({period})");
        v.invalid(path, sleep.seconds, detail);
    }
}

/// `validateStopSignal`
fn validate_stop_signal(v: &mut Validation<'_>, path: &Path<'_>, signal: &str, os: Option<&PodOS>) {
    match os.map(|os| os.name.as_str()) {
        None => v.forbidden(path, "may not be set for containers with empty `spec.os.name`"),
        Some("windows") => v.one_of(path, signal, &WINDOWS_SIGNALS),
        Some("linux") => v.one_of(path, signal, &LINUX_SIGNALS),
        Some(_) => {}
    }
}
