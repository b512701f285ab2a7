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

test("leases that ended while the store was down close no connection between nodes", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
  const state = { isDown: false, alive: new Set(["other"]) };
  const answer = async <Value>(value: Value): Promise<Value> => {
    if (state.isDown) throw new Error("The store is down.");
    return value;
  };
  const store = {
    store: { notifier: { subscribe: () => ({ [Symbol.dispose]: () => {} }) } },
    tokens: { valid: () => answer(new Set(["t"])) },
    nodes: { renew: () => answer(undefined), alive: () => answer(state.alive) },
    grants: { removeExpired: () => answer(undefined) },
    registrations: { removeStale: () => answer(undefined) },
  } as unknown as RegistryStore;
  const closed: string[] = [];
  const link = {
    target: { nodeId: "other", nodeUrl: "" },
    identity: { tokenId: "t" },
    close: () => closed.push("link"),
  };
  await using rendezvous = new Rendezvous({ limits: REGISTRY_LIMITS });
  await using _checks = new LiveChecks({
    store,
    nodeId: "this",
    nodeUrl: "",
    rendezvous,
    links: { all: [link] } as unknown as NodeLinks,
    leaseMs: LEASE_MS,
    onWarning: () => {},
  });
  await vi.advanceTimersByTimeAsync(2 * LEASE_MS);
  state.isDown = true;
  await vi.advanceTimersByTimeAsync(2 * LEASE_MS);
  // The store is back, and the other node has not renewed its lease yet.
  Object.assign(state, { isDown: false, alive: new Set() });
  await vi.advanceTimersByTimeAsync(LEASE_MS / 2);
  expect(closed).toEqual([]);
  state.alive = new Set(["other"]);
  await vi.advanceTimersByTimeAsync(2 * LEASE_MS);
  expect(closed).toEqual([]);
  state.alive = new Set();
  await vi.advanceTimersByTimeAsync(LEASE_MS);
  expect(closed).not.toEqual([]);
});
