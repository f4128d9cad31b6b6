/// Query parameters for proxying a request to a node.
#[kind]
#[versions(v1(introduced = "1.2"))]
pub struct NodeProxyOptions {
    /// Remainder of the URL forwarded to the kubelet.
    #[field(1)]
    pub path: String,
}

/// Query parameters for attaching to a running container.
#[kind]
#[versions(v1(introduced = "1.1"))]
pub struct PodAttachOptions {
    /// Forwards the client's input into the container; off by default.
    #[field(1)]
    pub stdin: bool,

    /// Streams the container's output back; on by default.
    #[field(2)]
    pub stdout: bool,

    /// Streams the container's error output back; on by default.
    #[field(3)]
    pub stderr: bool,

    /// Treats the attached session as an interactive terminal.
    #[field(4)]
    pub tty: bool,

    /// Which container to attach to; optional in single-container pods.
    #[field(5)]
    pub container: String,
}

/// Query parameters for running a command inside a container.
#[kind]
#[versions(v1(introduced = "1.0"))]
pub struct PodExecOptions {
    /// Connects the client's input to the new process; off by default.
    #[field(1)]
    pub stdin: bool,

    /// Sends the process output back to the client.
    #[field(2)]
    pub stdout: bool,

    /// Sends the process error stream back to the client.
    #[field(3)]
    pub stderr: bool,

    /// Allocates a terminal for the new process; off by default.
    #[field(4)]
    pub tty: bool,

    /// Container in which to execute; may be omitted if the pod has just one.
    #[field(5)]
    pub container: String,

    /// Program and arguments to run, not interpreted by any shell.
    #[field(6, required, list = atomic)]
    pub command: Vec<String>,
}

/// Query parameters for reading container logs.
#[kind]
#[versions(v1(introduced = "1.0"))]
#[default(by_hand = default_pod_log_options)]
pub struct PodLogOptions {
    /// Container to read logs of; required if the pod has several containers.
    #[field(1)]
    pub container: String,

    /// Keeps the connection open and streams new lines as they arrive.
    #[field(2)]
    pub follow: bool,

    /// Reads logs of the prior, terminated instance rather than the current one.
    #[field(3)]
    pub previous: bool,

    /// Skips lines older than this many seconds; exclusive with `sinceTime`.
    #[field(4)]
    pub since_seconds: Option<i64>,

    /// Skips lines written before this RFC3339 instant; exclusive with `sinceSeconds`.
    #[field(5)]
    pub since_time: Option<Time>,

    /// Prefixes each line with its RFC3339 time.
    #[field(6)]
    pub timestamps: bool,

    /// Returns only this many lines from the end; unset shows everything.
    #[field(7)]
    pub tail_lines: Option<i64>,

    /// Stops after this many bytes, possibly in the middle of a line.
    #[field(8)]
    pub limit_bytes: Option<i64>,

    /// Skips verifying the kubelet's certificate, so logs could come from an impostor.
    #[field(9)]
    pub insecure_skip_tls_verify_backend: bool,

    /// Stream to return: `All` (default), `Stdout` or `Stderr`.
    #[field(10, gate = PodLogsQuerySplitStreams)]
    pub stream: Option<String>,
}

/// Query parameters for port forwarding into a pod.
#[kind]
#[versions(v1(introduced = "1.6"))]
pub struct PodPortForwardOptions {
    /// Pod ports to reach; WebSocket clients have to pass at least one.
    #[field(1, list = atomic)]
    pub ports: Vec<i32>,
}

/// Query parameters for proxying a request to a pod.
#[kind]
#[versions(v1(introduced = "1.0"))]
pub struct PodProxyOptions {
    /// Remainder of the URL forwarded to the pod.
    #[field(1)]
    pub path: String,
}

/// Query parameters for proxying a request to a Service.
#[kind]
#[versions(v1(introduced = "1.2"))]
pub struct ServiceProxyOptions {
    /// Remainder of the URL forwarded to the Service's backend.
    #[field(1)]
    pub path: String,
}
