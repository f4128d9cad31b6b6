// A Kubernetes API server for tests, as a process of its own.

import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const ANNOUNCEMENT = "Serving the Kubernetes API on ";
const START_TIMEOUT = 60_000;
const STOP_TIMEOUT = 20_000;
// How much of the log is kept for the message of a failure.
const LOG_LINES = 50;

/** A running API server. */
export class Server {
  /** The base URL, such as https://127.0.0.1:40123. */
  url;
  /** The path of the self-contained kubeconfig of the administrator. */
  kubeconfig;
  #process;
  #folder;

  constructor(process, folder, url) {
    this.url = url;
    this.kubeconfig = join(folder, "admin.kubeconfig");
    this.#process = process;
    this.#folder = folder;
  }

  /** Stops the server and removes its data. A second call does nothing. */
  async stop() {
    await end(this.#process);
    await rm(this.#folder, { recursive: true, force: true });
  }

  async [Symbol.asyncDispose ?? Symbol.for("nodejs.asyncDispose")]() {
    await this.stop();
  }
}

/**
 * Starts a server on a free port of this host, and waits until it serves.
 *
 * `program` is the path of kube-apiserver; the default is the environment variable KUBE_APISERVER, or the program in
 * PATH. `flags` are further flags. Fails, with the end of the log, if the server cannot start.
 */
export async function start({ program = process.env.KUBE_APISERVER || "kube-apiserver", flags = [] } = {}) {
  const folder = await mkdtemp(join(tmpdir(), "kube-apiserver-"));
  const own = ["--test-server", "--bind-address=127.0.0.1", "--secure-port=0", `--data-dir=${folder}`];
  const child = spawn(program, [...own, ...flags], { stdio: ["ignore", "ignore", "pipe"] });
  try {
    return new Server(child, folder, await announced(child, program));
  } catch (error) {
    await end(child);
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

// Waits for the URL of a server. The log is read to its end: a full pipe would block the server.
function announced(child, program) {
  return new Promise((resolve, reject) => {
    const lines = [];
    const fail = (why) => reject(new Error(why));
    const timer = setTimeout(() => fail(`${program} did not start in time:\n${lines.join("\n")}`), START_TIMEOUT);
    child.once("error", (error) => {
      clearTimeout(timer);
      fail(`${program} cannot be started, name the program in KUBE_APISERVER: ${error.message}`);
    });
    const log = createInterface({ input: child.stderr });
    log.on("line", (line) => {
      lines.push(line);
      if (lines.length > LOG_LINES) lines.shift();
      if (line.startsWith(ANNOUNCEMENT)) {
        clearTimeout(timer);
        resolve(line.slice(ANNOUNCEMENT.length).split(". ")[0]);
      }
    });
    log.once("close", () => {
      clearTimeout(timer);
      fail(`${program} did not start:\n${lines.join("\n")}`);
    });
  });
}

// Ends a process, if it runs.
async function end(child) {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT);
  await ended;
  clearTimeout(timer);
}
