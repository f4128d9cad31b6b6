// A kubelet without nodes and pods, for tests: real protocols (TLS with client certificates, SPDY/3.1, the streams of
// exec, attach and port-forward), from the packages that runtimes use. Commands of containers run on this host.
//
// Its argument is a folder, into which it writes ca.crt, client.crt and client.key. It prints its address.
package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/cri-streaming/pkg/streaming/portforward"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"
)

const patience = time.Minute

func main() {
	certificates := issue(os.Args[1])
	listener, err := tls.Listen("tcp", "0.0.0.0:0", certificates)
	check(err)
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	kubelet := &kubelet{lines: make(chan string)}
	routes := http.NewServeMux()
	routes.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", kubelet.logs)
	routes.HandleFunc("/say/{line}", kubelet.say)
	routes.HandleFunc("/exec/{namespace}/{pod}/{container}", kubelet.exec)
	routes.HandleFunc("/attach/{namespace}/{pod}/{container}", kubelet.attach)
	routes.HandleFunc("/portForward/{namespace}/{pod}", kubelet.portForward)
	routes.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, r.Method, r.URL) })
	check(http.Serve(listener, spdyOnly(routes)))
}

// Rejects WebSockets, as a kubelet without the feature does.
func spdyOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
			http.Error(w, "no WebSockets here", http.StatusBadRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

type kubelet struct {
	// Lines for followed logs.
	lines chan string
}

func (k *kubelet) logs(w http.ResponseWriter, r *http.Request) {
	switch r.PathValue("pod") {
	case "broken":
		http.Error(w, "the disk is full", http.StatusInternalServerError)
		return
	case "lost":
		http.Error(w, "no such container", http.StatusNotFound)
		return
	}
	fmt.Fprintln(w, "log of", r.URL)
	for r.URL.Query().Get("follow") == "true" {
		w.(http.Flusher).Flush()
		select {
		case line := <-k.lines:
			fmt.Fprintln(w, line)
		case <-r.Context().Done():
			return
		}
	}
}

func (k *kubelet) say(w http.ResponseWriter, r *http.Request) { k.lines <- r.PathValue("line") }

func (k *kubelet) exec(w http.ResponseWriter, r *http.Request) {
	if options := options(w, r); options != nil {
		remotecommand.ServeExec(w, r, k, r.PathValue("pod"), "", r.PathValue("container"), r.URL.Query()["command"],
			options, patience, patience, remotecommand.SupportedStreamingProtocols)
	}
}

func (k *kubelet) attach(w http.ResponseWriter, r *http.Request) {
	if options := options(w, r); options != nil {
		remotecommand.ServeAttach(w, r, k, r.PathValue("pod"), "", r.PathValue("container"), options, patience, patience,
			remotecommand.SupportedStreamingProtocols)
	}
}

func options(w http.ResponseWriter, r *http.Request) *remotecommand.Options {
	options, err := remotecommand.NewOptions(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return nil
	}
	return options
}

func (k *kubelet) portForward(w http.ResponseWriter, r *http.Request) {
	portforward.ServePortForward(w, r, k, r.PathValue("pod"), "", &portforward.V4Options{}, patience, patience,
		portforward.SupportedProtocols)
}

// ExecInContainer runs a command. For a terminal it prints the first size.
func (k *kubelet) ExecInContainer(ctx context.Context, _, _, _ string, command []string, in io.Reader,
	out, errors io.WriteCloser, tty bool, resize <-chan remotecommand.TerminalSize, _ time.Duration) error {
	if tty {
		size := <-resize
		fmt.Fprintf(out, "terminal of %dx%d\r\n", size.Width, size.Height)
	}
	process := exec.CommandContext(ctx, command[0], command[1:]...)
	process.Stdout = out
	if errors != nil {
		process.Stderr = errors
	}
	if in != nil {
		// A separate pipe: Wait must not wait for a client that does not end its input.
		input, err := process.StdinPipe()
		check(err)
		go func() {
			defer input.Close()
			_, _ = io.Copy(input, in)
		}()
	}
	err := process.Run()
	if ended, ok := err.(*exec.ExitError); ok {
		return utilexec.CodeExitError{Err: err, Code: ended.ExitCode()}
	}
	return err
}

// AttachContainer echoes its input.
func (k *kubelet) AttachContainer(_ context.Context, _, _, _ string, in io.Reader, out, _ io.WriteCloser, _ bool,
	_ <-chan remotecommand.TerminalSize) error {
	fmt.Fprintln(out, "attached")
	if in != nil {
		_, err := io.Copy(out, in)
		return err
	}
	return nil
}

// PortForward is a server that responds with the received bytes and the port.
func (k *kubelet) PortForward(_ context.Context, _, _ string, port int32, stream io.ReadWriteCloser) error {
	received := make([]byte, 4)
	if _, err := io.ReadFull(stream, received); err != nil {
		return err
	}
	_, err := fmt.Fprintf(stream, "%s at port %d\n", received, port)
	return err
}

// Creates an authority, and certificates of this server and of its client.
func issue(folder string) *tls.Config {
	authorityKey, authority := certificate("authority", nil, nil)
	serverKey, server := certificate("kubelet", authority, authorityKey)
	clientKey, client := certificate("kube-apiserver", authority, authorityKey)
	write := func(name, kind string, bytes []byte) {
		check(os.WriteFile(filepath.Join(folder, name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: bytes}), 0o600))
	}
	key, err := x509.MarshalPKCS8PrivateKey(clientKey)
	check(err)
	write("ca.crt", "CERTIFICATE", authority.Raw)
	write("client.crt", "CERTIFICATE", client.Raw)
	write("client.key", "PRIVATE KEY", key)
	pool := x509.NewCertPool()
	pool.AddCert(authority)
	return &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{server.Raw}, PrivateKey: serverKey}},
		ClientAuth:   tls.RequireAndVerifyClientCert,
		ClientCAs:    pool,
	}
}

func certificate(name string, issuer *x509.Certificate, issuerKey *ecdsa.PrivateKey) (*ecdsa.PrivateKey, *x509.Certificate) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(err)
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(time.Now().UnixNano()),
		Subject:               pkix.Name{CommonName: name},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(time.Hour),
		DNSNames:              []string{"localhost"},
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		BasicConstraintsValid: true,
		IsCA:                  issuer == nil,
	}
	if issuer == nil {
		issuer, issuerKey = template, key
	}
	addresses, err := net.InterfaceAddrs()
	check(err)
	for _, address := range addresses {
		template.IPAddresses = append(template.IPAddresses, address.(*net.IPNet).IP)
	}
	bytes, err := x509.CreateCertificate(rand.Reader, template, issuer, &key.PublicKey, issuerKey)
	check(err)
	made, err := x509.ParseCertificate(bytes)
	check(err)
	return key, made
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
