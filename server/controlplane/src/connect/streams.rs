//! `exec`, `attach`, and `portforward` of pods (upstream: `ExecREST`, `AttachREST`,
//! `PortForwardREST`).

use ::proxy::forward::change_protocol;
use ::proxy::remote_command::{self, Streams};
use ::proxy::{Location, tunnel, upgrade};
use endpoints::ConnectRequest;
use form_urlencoded::Serializer;
use generated::core::v1::{Pod, PodAttachOptions, PodExecOptions, PodPortForwardOptions};
use machinery::features;
use machinery::status::Status;
use request::{Request, Response};

use super::kubelets::Kubelet;
use super::{Connect, admitted, containers};

/// The node feature for kubelets that serve WebSockets.
const OF_NODES: &str = features::ExtendWebSocketsToKubelet;

impl Connect {
    pub(super) async fn exec(&self, connected: ConnectRequest<'_>, request: Request) -> Result<Response, Status> {
        let options: PodExecOptions = admitted(&connected, connected.options()?).await?;
        let PodExecOptions { stdin, stdout, stderr, tty, .. } = options;
        let container_request = ContainerRequest {
            action: "exec",
            container: &options.container,
            streams: Streams { stdin, stdout, stderr, tty },
            command: &options.command,
        };
        self.run(connected, request, container_request).await
    }

    pub(super) async fn attach(&self, connected: ConnectRequest<'_>, request: Request) -> Result<Response, Status> {
        let options: PodAttachOptions = admitted(&connected, connected.options()?).await?;
        let PodAttachOptions { stdin, stdout, stderr, tty, .. } = options;
        let container_request = ContainerRequest {
            action: "attach",
            container: &options.container,
            streams: Streams { stdin, stdout, stderr, tty },
            command: &[],
        };
        self.run(connected, request, container_request).await
    }

    async fn run(
        &self,
        connected: ConnectRequest<'_>,
        request: Request,
        container_request: ContainerRequest<'_>,
    ) -> Result<Response, Status> {
        may_create(&connected).await?;
        let pod = self.pod(&connected).await?;
        let container = containers::choose(&pod, container_request.container)?;
        let kubelet = self.kubelet(node(&pod)?).await?;
        let metadata = &pod.metadata;
        let path = format!("/{}/{}/{}/{container}", container_request.action, metadata.namespace, metadata.name);
        let translates = self.translates(
            &connected,
            &kubelet,
            container_request.action,
            features::TranslateStreamCloseWebsocketRequests,
        );
        let location = self.paced(location(kubelet, path, container_request.query()));
        let client = self.client_of_kubelets(|_| {})?;
        if translates && remote_command::is_wanted(request.headers()) {
            let metrics = self.metrics.clone();
            return Ok(remote_command::translate(client, location, container_request.streams, request, metrics));
        }
        check_upgrade(&request)?;
        change_protocol(&client, &location, request).await
    }

    pub(super) async fn port_forward(
        &self,
        connected: ConnectRequest<'_>,
        request: Request,
    ) -> Result<Response, Status> {
        let options: PodPortForwardOptions = admitted(&connected, connected.options()?).await?;
        may_create(&connected).await?;
        let pod = self.pod(&connected).await?;
        let kubelet = self.kubelet(node(&pod)?).await?;
        let path = format!("/portForward/{}/{}", pod.metadata.namespace, pod.metadata.name);
        let translates = self.translates(&connected, &kubelet, "portforward", features::PortForwardWebsockets);
        let location = self.paced(location(kubelet, path, ports(&options.ports)));
        let client = self.client_of_kubelets(|_| {})?;
        if translates && tunnel::is_wanted(request.headers()) {
            return tunnel::tunnel(&client, &location, request, &self.metrics).await;
        }
        check_upgrade(&request)?;
        change_protocol(&client, &location, request).await
    }

    /// Whether this server translates the client's WebSocket to SPDY for the kubelet, if the gate
    /// is enabled.
    fn translates(&self, connected: &ConnectRequest<'_>, kubelet: &Kubelet, subresource: &str, gate: &str) -> bool {
        let node_does = kubelet.features.iter().any(|feature| feature == OF_NODES);
        let here = !(node_does && connected.context.enabled(OF_NODES));
        let is_on = connected.context.enabled(gate);
        if is_on {
            self.metrics.routed(subresource, here);
        }
        is_on && here
    }
}

/// A request to a container.
struct ContainerRequest<'a> {
    /// The action in the kubelet's URL path.
    action: &'static str,
    container: &'a str,
    streams: Streams,
    command: &'a [String],
}

impl ContainerRequest<'_> {
    /// Encodes the request as query parameters for the kubelet, sorted by name.
    fn query(&self) -> String {
        let Streams { stdin, stdout, stderr, tty } = self.streams;
        let mut query = Serializer::new(String::new());
        query.extend_pairs(self.command.iter().map(|word| ("command", word)));
        let streams = [("error", stderr), ("input", stdin), ("output", stdout), ("tty", tty)];
        query.extend_pairs(
            streams.into_iter().filter(|(_, container_request)| *container_request).map(|(name, _)| (name, "1")),
        );
        query.finish()
    }
}

fn ports(ports: &[i32]) -> String {
    if ports.is_empty() {
        return String::new();
    }
    let ports: Vec<String> = ports.iter().map(i32::to_string).collect();
    Serializer::new(String::new()).append_pair("port", &ports.join(",")).finish()
}

/// Requires the permission to create, regardless of the HTTP method, because these requests run
/// something.
async fn may_create(connected: &ConnectRequest<'_>) -> Result<(), Status> {
    connected.endpoint.authorize_create(connected.attributes).await
}

fn node(pod: &Pod) -> Result<&str, Status> {
    match pod.spec.node_name.as_str() {
        "" => Err(Status::bad_request(format!("pod {} does not have a host assigned", pod.metadata.name))),
        node => Ok(node),
    }
}

fn location(kubelet: Kubelet, path: String, query: String) -> Location {
    Location { scheme: "https", host: kubelet.host, port: kubelet.port, path, query, ..Location::default() }
}

fn check_upgrade(request: &Request) -> Result<(), Status> {
    let container_request = upgrade::is_wanted(request.headers());
    if container_request { Ok(()) } else { Err(Status::bad_request("Upgrade request required")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodes_container_request_for_the_kubelet() {
        let command = ["sh".to_owned(), "-c".to_owned(), "a b".to_owned()];
        let streams = Streams { stdin: true, stdout: true, tty: true, ..Streams::default() };
        let container_request = ContainerRequest { action: "exec", container: "", streams, command: &command };
        assert_eq!(container_request.query(), "command=sh&command=-c&command=a+b&input=1&output=1&tty=1");
        assert_eq!((ports(&[]).as_str(), ports(&[80, 443]).as_str()), ("", "port=80%2C443"));
    }
}
