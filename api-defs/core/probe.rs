/// Actions tied to container start and stop.
#[check(postStart, below)]
#[check(preStop, below)]
#[check(
    stopSignal,
    forbidden = "may not be set for containers with empty `spec.os.name`",
    when(option(os_unknown))
)]
#[check(stopSignal, one_of(SIGKILL, SIGTERM), when(option(os_windows)))]
#[check(
    stopSignal,
    one_of(
        SIGABRT, SIGALRM, SIGBUS, SIGCHLD, SIGCLD, SIGCONT, SIGFPE, SIGHUP, SIGILL, SIGINT, SIGIO,
        SIGIOT, SIGKILL, SIGPIPE, SIGPOLL, SIGPROF, SIGPWR, SIGQUIT, SIGRTMAX, "SIGRTMAX-1",
        "SIGRTMAX-10", "SIGRTMAX-11", "SIGRTMAX-12", "SIGRTMAX-13", "SIGRTMAX-14", "SIGRTMAX-2",
        "SIGRTMAX-3", "SIGRTMAX-4", "SIGRTMAX-5", "SIGRTMAX-6", "SIGRTMAX-7", "SIGRTMAX-8",
        "SIGRTMAX-9", SIGRTMIN, "SIGRTMIN+1", "SIGRTMIN+10", "SIGRTMIN+11", "SIGRTMIN+12",
        "SIGRTMIN+13", "SIGRTMIN+14", "SIGRTMIN+15", "SIGRTMIN+2", "SIGRTMIN+3", "SIGRTMIN+4",
        "SIGRTMIN+5", "SIGRTMIN+6", "SIGRTMIN+7", "SIGRTMIN+8", "SIGRTMIN+9", SIGSEGV, SIGSTKFLT,
        SIGSTOP, SIGSYS, SIGTERM, SIGTRAP, SIGTSTP, SIGTTIN, SIGTTOU, SIGURG, SIGUSR1, SIGUSR2,
        SIGVTALRM, SIGWINCH, SIGXCPU, SIGXFSZ,
    ),
    when(option(os_linux))
)]
pub struct Lifecycle {
    /// Hook run right after creation, concurrently with the entrypoint; failure kills the container.
    #[field(1)]
    pub post_start: Option<LifecycleHandler>,

    /// Hook run before the stop signal; its runtime counts against the grace period.
    #[field(2)]
    pub pre_stop: Option<LifecycleHandler>,

    /// Signal sent to stop the container, e.g. `SIGUSR1`; needs `spec.os.name` to be set.
    #[field(3, gate = ContainerStopSignals, gate_with_struct)]
    pub stop_signal: Option<Signal>,
}

/// Action a lifecycle hook performs; exactly one kind must be chosen.
#[check(exec, member = "may not specify more than 1 handler type", below)]
#[check(httpGet, member = "may not specify more than 1 handler type", below)]
#[check(tcpSocket, member = "may not specify more than 1 handler type", below)]
#[check(sleep, member = "may not specify more than 1 handler type")]
#[check(self, by_hand = validate_sleep, when(member(sleep)))]
#[check(self, missing = "must specify a handler type", when(no_member))]
pub struct LifecycleHandler {
    /// Executes a command inside the container.
    #[field(1)]
    pub exec: Option<ExecAction>,

    /// Sends an HTTP GET request to the pod.
    #[field(2)]
    pub http_get: Option<HTTPGetAction>,

    /// Ignored leftover; TCP lifecycle hooks fail when invoked.
    #[field(3, deprecated)]
    pub tcp_socket: Option<TCPSocketAction>,

    /// Simply pauses for a fixed time, useful for draining connections.
    #[field(4)]
    pub sleep: Option<SleepAction>,
}

/// Runs a command inside the container as a probe or hook.
#[check(command, filled)]
pub struct ExecAction {
    /// Executable and arguments run without a shell; exit code 0 counts as success.
    #[field(1, list = atomic)]
    pub command: Vec<String>,
}

/// HTTP request used by a probe or hook; status 200 to 399 means success.
#[check(path, filled)]
#[check(port, port)]
#[check(scheme, one_of(HTTP, HTTPS))]
#[check(httpHeaders, each(field(name, at("../../httpHeaders", format = http_header_name))))]
pub struct HTTPGetAction {
    /// URL path to request, such as `/healthz`; `/` if not specified.
    #[field(1, default_hidden = "/")]
    pub path: String,

    /// Port to contact, either a number or a named container port.
    #[field(2, required)]
    pub port: IntOrString,

    /// Alternative host to contact instead of the pod IP; prefer a `Host` header.
    #[field(3)]
    pub host: String,

    /// Either `HTTP` (default) or `HTTPS`; certificates are not verified for the latter.
    #[field(4, default_hidden = HTTP)]
    pub scheme: URIScheme,

    /// Extra headers added to the request; the same name may appear repeatedly.
    #[field(5, list = atomic)]
    pub http_headers: Vec<HTTPHeader>,
}

/// Protocol the kubelet speaks for HTTP probes and lifecycle hooks, plain or TLS.
pub enum URIScheme {
    HTTP,
    HTTPS,
}

/// Name and value of one extra request header.
pub struct HTTPHeader {
    /// Header name, normalised to canonical capitalisation before sending.
    #[field(1, required)]
    pub name: String,

    /// Content sent for the header.
    #[field(2, required)]
    pub value: String,
}

/// Check that tries to open a TCP connection.
#[check(port, port)]
pub struct TCPSocketAction {
    /// Number or named container port to connect to.
    #[field(1, required)]
    pub port: IntOrString,

    /// Host to connect to; the pod IP by default.
    #[field(2)]
    pub host: String,
}

/// Hook action that just waits.
pub struct SleepAction {
    /// How long to wait, in seconds; cannot exceed the pod's grace period.
    #[field(1, required)]
    pub seconds: i64,
}

/// Unix signal name a container may declare as its stop signal, such as `SIGTERM`.
pub enum Signal {
    SIGABRT,
    SIGALRM,
    SIGBUS,
    SIGCHLD,
    SIGCLD,
    SIGCONT,
    SIGFPE,
    SIGHUP,
    SIGILL,
    SIGINT,
    SIGIO,
    SIGIOT,
    SIGKILL,
    SIGPIPE,
    SIGPOLL,
    SIGPROF,
    SIGPWR,
    SIGQUIT,
    SIGSEGV,
    SIGSTKFLT,
    SIGSTOP,
    SIGSYS,
    SIGTERM,
    SIGTRAP,
    SIGTSTP,
    SIGTTIN,
    SIGTTOU,
    SIGURG,
    SIGUSR1,
    SIGUSR2,
    SIGVTALRM,
    SIGWINCH,
    SIGXCPU,
    SIGXFSZ,
    SIGRTMIN,
    #[value("SIGRTMIN+1")]
    SIGRTMINPlus1,
    #[value("SIGRTMIN+2")]
    SIGRTMINPlus2,
    #[value("SIGRTMIN+3")]
    SIGRTMINPlus3,
    #[value("SIGRTMIN+4")]
    SIGRTMINPlus4,
    #[value("SIGRTMIN+5")]
    SIGRTMINPlus5,
    #[value("SIGRTMIN+6")]
    SIGRTMINPlus6,
    #[value("SIGRTMIN+7")]
    SIGRTMINPlus7,
    #[value("SIGRTMIN+8")]
    SIGRTMINPlus8,
    #[value("SIGRTMIN+9")]
    SIGRTMINPlus9,
    #[value("SIGRTMIN+10")]
    SIGRTMINPlus10,
    #[value("SIGRTMIN+11")]
    SIGRTMINPlus11,
    #[value("SIGRTMIN+12")]
    SIGRTMINPlus12,
    #[value("SIGRTMIN+13")]
    SIGRTMINPlus13,
    #[value("SIGRTMIN+14")]
    SIGRTMINPlus14,
    #[value("SIGRTMIN+15")]
    SIGRTMINPlus15,
    #[value("SIGRTMAX-14")]
    SIGRTMAXMinus14,
    #[value("SIGRTMAX-13")]
    SIGRTMAXMinus13,
    #[value("SIGRTMAX-12")]
    SIGRTMAXMinus12,
    #[value("SIGRTMAX-11")]
    SIGRTMAXMinus11,
    #[value("SIGRTMAX-10")]
    SIGRTMAXMinus10,
    #[value("SIGRTMAX-9")]
    SIGRTMAXMinus9,
    #[value("SIGRTMAX-8")]
    SIGRTMAXMinus8,
    #[value("SIGRTMAX-7")]
    SIGRTMAXMinus7,
    #[value("SIGRTMAX-6")]
    SIGRTMAXMinus6,
    #[value("SIGRTMAX-5")]
    SIGRTMAXMinus5,
    #[value("SIGRTMAX-4")]
    SIGRTMAXMinus4,
    #[value("SIGRTMAX-3")]
    SIGRTMAXMinus3,
    #[value("SIGRTMAX-2")]
    SIGRTMAXMinus2,
    #[value("SIGRTMAX-1")]
    SIGRTMAXMinus1,
    SIGRTMAX,
}

/// Periodic health check run by the kubelet against a container.
#[check(exec, member = "may not specify more than 1 handler type", below)]
#[check(httpGet, member = "may not specify more than 1 handler type", below)]
#[check(tcpSocket, member = "may not specify more than 1 handler type", below)]
#[check(grpc, member = "may not specify more than 1 handler type", below)]
#[check(self, missing = "must specify a handler type", when(no_member))]
#[check(initialDelaySeconds, not_negative)]
#[check(timeoutSeconds, not_negative)]
#[check(periodSeconds, not_negative)]
#[check(successThreshold, not_negative)]
#[check(failureThreshold, not_negative)]
#[check(terminationGracePeriodSeconds, positive = "must be greater than 0")]
pub struct Probe {
    /// Inlined choice of what the check does.
    #[field(1, inline)]
    pub handler: ProbeHandler,

    /// Seconds to hold off after container start before checking; none by default.
    #[field(2)]
    pub initial_delay_seconds: i32,

    /// Seconds until one attempt is given up, 1 unless changed.
    #[field(3, default_hidden = 1)]
    pub timeout_seconds: i32,

    /// Seconds between attempts; 10 by default and at least 1.
    #[field(4, default_hidden = 10)]
    pub period_seconds: i32,

    /// Passes in a row needed to recover; must be 1 for liveness and startup.
    #[field(5, default_hidden = 1)]
    pub success_threshold: i32,

    /// Misses in a row before the check counts as failed, 3 by default.
    #[field(6, default_hidden = 3)]
    pub failure_threshold: i32,

    /// Grace seconds after a failed check, replacing the pod value; not for readiness.
    #[field(7)]
    pub termination_grace_period_seconds: Option<i64>,
}

/// Way a health check is carried out; exactly one must be set.
pub struct ProbeHandler {
    /// Passes if a command in the container exits with 0.
    #[field(1)]
    pub exec: Option<ExecAction>,

    /// Passes if an HTTP GET answers with a status from 200 to 399.
    #[field(2)]
    pub http_get: Option<HTTPGetAction>,

    /// Passes if a TCP connection can be opened.
    #[field(3)]
    pub tcp_socket: Option<TCPSocketAction>,

    /// Passes if the gRPC health service answers `SERVING`.
    #[field(4)]
    pub grpc: Option<GRPCAction>,
}

/// Probe that calls the standard gRPC health-checking service.
#[check(port, port)]
pub struct GRPCAction {
    /// Port of the gRPC server, 1 to 65535; named ports are not accepted.
    #[field(1, required)]
    pub port: i32,

    /// Service name sent in the health request; empty requests the health of the whole server.
    #[field(2, always, default = "")]
    pub service: Option<String>,
}
