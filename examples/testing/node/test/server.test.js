import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { request } from "node:https";
import { dirname } from "node:path";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";

import { start } from "../index.js";

const MAPS = "/api/v1/namespaces/default/configmaps";

// Sends a request as the administrator; returns the status and the object of the answer.
function send(server, method, path, body) {
  const text = readFileSync(server.kubeconfig, "utf8");
  const data = (name) => Buffer.from(text.match(new RegExp(`${name}-data: (\\S+)`))[1], "base64");
  const options = {
    method,
    headers: { "Content-Type": "application/json" },
    ca: data("certificate-authority"),
    cert: data("client-certificate"),
    key: data("client-key"),
    agent: false,
  };
  return new Promise((resolve, reject) => {
    const sent = request(server.url + path, options, (answer) => {
      const parts = [];
      answer.on("data", (part) => parts.push(part));
      answer.on("end", () => resolve([answer.statusCode, JSON.parse(Buffer.concat(parts).toString())]));
    });
    sent.on("error", reject);
    sent.end(body && JSON.stringify(body));
  });
}

test("dependents are deleted with their owner", async () => {
  const server = await start();
  try {
    const [status, owner] = await send(server, "POST", MAPS, { metadata: { name: "owner" } });
    assert.equal(status, 201);
    const reference = { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: owner.metadata.uid };
    const dependent = { metadata: { name: "dependent", ownerReferences: [reference] } };
    assert.equal((await send(server, "POST", MAPS, dependent))[0], 201);
    assert.equal((await send(server, "DELETE", `${MAPS}/owner`))[0], 200);
    const end = Date.now() + 60_000;
    while ((await send(server, "GET", `${MAPS}/dependent`))[0] !== 404) {
      assert.ok(Date.now() < end, "the dependent remains");
      await delay(20);
    }
  } finally {
    await server.stop();
  }
  assert.ok(!existsSync(dirname(server.kubeconfig)));
  await server.stop();
});

test("flags are those of the program", async () => {
  const server = await start({ flags: ["--controllers=-*"] });
  try {
    assert.equal((await send(server, "GET", "/api/v1/namespaces/default/serviceaccounts/default"))[0], 404);
  } finally {
    await server.stop();
  }
});

test("a failure has the reason", async () => {
  await assert.rejects(start({ flags: ["--no-such-flag"] }), /did not start:[^]*--no-such-flag/);
  await assert.rejects(start({ program: "/nowhere" }), /\/nowhere cannot be started.*ENOENT/);
});
