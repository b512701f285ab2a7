import { afterEach, expect, test, vi } from "vitest";
import { Rendezvous } from "../rendezvous/rendezvous.ts";
import type { RegistryStore } from "../store/registry-store.ts";
import { REGISTRY_LIMITS } from "../limits.ts";
import { LiveChecks } from "./live-checks.ts";
import type { NodeLinks } from "./node-links.ts";

const LEASE_MS = 10_000;

afterEach(() => {
  vi.useRealTimers();
});

/** A store that can fail, and that counts how often tokens were checked. */
function fakeStore() {
  const state = { isDown: false, alive: new Set(["other"]), checks: 0 };
  const hints = new Map<string, (hint: string) => void>();
  const answer = async <Value>(value: Value): Promise<Value> => {
    if (state.isDown) throw new Error("The store is down.");
    return value;
  };
  const subscribe = (key: string, onHint: (hint: string) => void): Disposable => {
    hints.set(key, onHint);
    return { [Symbol.dispose]: () => {} };
  };
  const valid = () => {
    state.checks += 1;
    return answer(new Set(["t"]));
  };
  const store = {
    store: { notifier: { subscribe } },
    tokens: { valid, removeReplaced: () => answer(undefined) },
    nodes: { renew: () => answer(undefined), alive: () => answer(state.alive) },
    grants: { removeExpired: () => answer(undefined) },
    registrations: { removeStale: () => answer(undefined) },
  } as unknown as RegistryStore;
  return { store, state, notify: (key: string) => hints.get(key)?.("notified") };
}

function startChecks(store: RegistryStore, rendezvous: Rendezvous) {
  const closed: string[] = [];
  const link = {
    target: { nodeId: "other", nodeUrl: "" },
    identity: { tokenId: "t" },
    close: () => closed.push("link"),
  };
  const checks = new LiveChecks({
    store,
    nodeId: "this",
    nodeUrl: "",
    rendezvous,
    links: { all: [link] } as unknown as NodeLinks,
    leaseMs: LEASE_MS,
    onWarning: () => {},
  });
  return { closed, [Symbol.asyncDispose]: () => checks[Symbol.asyncDispose]() };
}

test("leases that expired while the store was down close no connection between nodes", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
  const { store, state } = fakeStore();
  await using rendezvous = new Rendezvous({ limits: REGISTRY_LIMITS });
  await using it = startChecks(store, rendezvous);
  await vi.advanceTimersByTimeAsync(2 * LEASE_MS);
  state.isDown = true;
  await vi.advanceTimersByTimeAsync(2 * LEASE_MS);
  // The store is available again, and the other node has not renewed its lease yet.
  Object.assign(state, { isDown: false, alive: new Set() });
  await vi.advanceTimersByTimeAsync(LEASE_MS / 2);
  expect(it.closed).toEqual([]);
  state.alive = new Set(["other"]);
  await vi.advanceTimersByTimeAsync(2 * LEASE_MS);
  expect(it.closed).toEqual([]);
  state.alive = new Set();
  await vi.advanceTimersByTimeAsync(LEASE_MS);
  expect(it.closed).not.toEqual([]);
});

test("many executors that connect concurrently cause one check, and a revoked token an immediate check", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "setTimeout", "clearTimeout"] });
  const { store, state, notify } = fakeStore();
  await using rendezvous = new Rendezvous({ limits: REGISTRY_LIMITS });
  await using _checks = startChecks(store, rendezvous);
  for (let executor = 0; executor < 1000; executor++) {
    notify("registrations");
    await vi.advanceTimersByTimeAsync(0);
  }
  expect(state.checks).toBe(0);
  await vi.advanceTimersByTimeAsync(1000);
  expect(state.checks).toBe(1);
  notify("tokens");
  expect(state.checks).toBe(2);
});
