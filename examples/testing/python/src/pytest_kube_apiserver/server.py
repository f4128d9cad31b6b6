"""Starts and stops the program."""

import collections
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading

PROGRAM = "kube-apiserver"
# Names the program, with its path.
VARIABLE = "KUBE_APISERVER"
ANNOUNCEMENT = "Serving the Kubernetes API on "
START_TIMEOUT = 60
STOP_TIMEOUT = 20
# How much of the log is kept for the message of a failure.
LOG_LINES = 50


class StartError(Exception):
    """The server cannot start."""


class Server:
    """A running API server, and a context manager that stops it."""

    def __init__(self, process, folder, url, log):
        self.url = url
        """The base URL, such as https://127.0.0.1:40123."""
        self.kubeconfig = pathlib.Path(folder.name, "admin.kubeconfig")
        """The self-contained kubeconfig of the administrator."""
        self._process = process
        self._folder = folder
        self._log = log

    def stop(self):
        """Stops the server and removes its data. A second call does nothing."""
        _end(self._process)
        self._log.join()
        self._folder.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self.stop()


class _Log(threading.Thread):
    """Reads the log: a full pipe would block the server."""

    def __init__(self, stream):
        super().__init__(daemon=True)
        self.url = None
        self.lines = collections.deque(maxlen=LOG_LINES)
        self.is_announced = threading.Event()
        self._stream = stream

    def run(self):
        with self._stream:
            for line in self._stream:
                self.lines.append(line)
                if line.startswith(ANNOUNCEMENT):
                    self.url = line[len(ANNOUNCEMENT) :].split(". ")[0].strip()
                    self.is_announced.set()
        self.is_announced.set()


def start(*flags, program=None):
    """Starts a server on a free port of this host, with further flags, and waits until it serves.

    Raises StartError, with the end of its log, if it cannot start.
    """
    program = program or os.environ.get(VARIABLE) or shutil.which(PROGRAM)
    if program is None:
        raise StartError(f"no {PROGRAM} in PATH: name the program in the environment variable {VARIABLE}")
    folder = tempfile.TemporaryDirectory(prefix="kube-apiserver-")
    try:
        process = subprocess.Popen(
            [
                program,
                "--test-server",
                "--bind-address=127.0.0.1",
                "--secure-port=0",
                f"--data-dir={folder.name}",
                *flags,
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
        )
    except OSError as error:
        folder.cleanup()
        raise StartError(f"{program} cannot be started: {error}") from error
    log = _Log(process.stderr)
    log.start()
    try:
        log.is_announced.wait(START_TIMEOUT)
    finally:
        # Also when the wait is interrupted.
        if log.url is None:
            _end(process)
            log.join()
            folder.cleanup()
    if log.url is None:
        raise StartError(f"{program} did not start:\n{''.join(log.lines)}")
    return Server(process, folder, log.url, log)


def _end(process):
    process.terminate()
    try:
        process.wait(STOP_TIMEOUT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
