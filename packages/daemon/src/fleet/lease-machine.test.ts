import { expect, test } from "vitest";
import {
  acquireLease,
  type LeaseEvent,
  mayClaim,
  mayTakeOver,
  needsCheck,
  stepLease,
} from "./lease-machine.ts";
import { FLEET_LIMITS, fleetLimits } from "./limits.ts";
import { orphanGraceMs, startWatchdog, stepWatchdog } from "./watchdog.ts";

const LIMITS = fleetLimits();
const { leaseMs, renewMs, freezeMs, frozenKillMs } = LIMITS;

/** Returns the state and the actions after the events. The registration is at 0. */
function run(...events: readonly LeaseEvent[]) {
  let state = acquireLease(0, LIMITS);
  const actions: string[] = [];
  for (const event of events) {
    const step = stepLease(state, event, LIMITS);
    state = step.state;
    actions.push(...step.actions.map((action) => `${action}@${event.at}`));
  }
  return { state, actions };
}

/** Ticks with one successful renewal per interval. */
function renewals(from: number, to: number): LeaseEvent[] {
  const events: LeaseEvent[] = [];
  for (let at = from; at <= to; at += renewMs) {
    events.push({ type: "tick", at }, { type: "renewed", sentAt: at, at });
  }
  return events;
}

test("renews once per interval, and sends no request while another one is pending", () => {
  const { actions } = run(
    { type: "tick", at: renewMs - 1 },
    { type: "tick", at: renewMs },
    { type: "tick", at: renewMs + 1 },
    { type: "renewed", sentAt: renewMs, at: renewMs + 2 },
    { type: "tick", at: 2 * renewMs },
  );
  expect(actions).toEqual([`renew@${renewMs}`, `renew@${2 * renewMs}`]);
});

test("counts the lease from the time a renewal was sent, not from its response", () => {
  const renewal: LeaseEvent = { type: "renewed", sentAt: renewMs, at: renewMs + 2_000 };
  const until = (at: number) => run({ type: "tick", at: renewMs }, renewal, { type: "tick", at });
  expect(until(renewMs + freezeMs - 1).state.phase).toBe("held");
  expect(until(renewMs + freezeMs).actions).toContain(`freeze@${renewMs + freezeMs}`);
});

test("stops the app-servers in time, and continues them after a renewal", () => {
  const frozen = run(
    { type: "tick", at: renewMs },
    { type: "failed", at: renewMs + 3_000 },
    { type: "tick", at: freezeMs },
  );
  expect(frozen.actions).toEqual([`renew@${renewMs}`, `freeze@${freezeMs}`, `renew@${freezeMs}`]);
  expect(needsCheck(frozen.state, freezeMs, LIMITS)).toBe(true);
  const thawed = stepLease(frozen.state, { type: "renewed", sentAt: freezeMs, at: freezeMs + 10 }, LIMITS);
  expect(thawed).toMatchObject({ actions: ["thaw"], state: { phase: "held" } });
});

test("a response that is read after a long pause does not continue the app-servers", () => {
  const at = renewMs + 2 * leaseMs;
  const { state, actions } = run({ type: "tick", at: renewMs }, { type: "renewed", sentAt: renewMs, at });
  expect(state.phase).toBe("frozen");
  expect(actions).toEqual([`renew@${renewMs}`, `freeze@${at}`]);
});

test("kills app-servers that are frozen for too long, once, and does not continue them afterwards", () => {
  const at = freezeMs + frozenKillMs;
  const killed = run(
    { type: "tick", at: freezeMs },
    { type: "failed", at: freezeMs },
    { type: "tick", at },
    { type: "tick", at: at + 1 },
  );
  expect(killed.actions.filter((action) => action.startsWith("kill"))).toEqual([`kill@${at}`]);
  const next = stepLease(killed.state, { type: "renewed", sentAt: at + 1, at: at + 2 }, LIMITS);
  expect(next).toMatchObject({ actions: [], state: { phase: "held", isKilled: false } });
});

test("registers again after the store has ended the lease", () => {
  const { state, actions } = run(
    { type: "tick", at: renewMs },
    { type: "fenced", at: renewMs + 1 },
    { type: "tick", at: renewMs + 2 },
    { type: "failed", at: renewMs + 3 },
    { type: "tick", at: renewMs + 4 },
    { type: "tick", at: 2 * renewMs },
    { type: "renewed", sentAt: 2 * renewMs, at: 2 * renewMs + 1 },
  );
  const after = renewMs + 1;
  expect(actions).toEqual([
    `renew@${renewMs}`,
    `kill@${after}`,
    `abandon@${after}`,
    `register@${after + 1}`,
    `register@${2 * renewMs}`,
  ]);
  expect(state.phase).toBe("held");
});

test("takes over sessions of lost nodes only after renewing without interruption for the duration of a lease", () => {
  const whole = run(...renewals(renewMs, leaseMs));
  expect(mayTakeOver(run(...renewals(renewMs, leaseMs - renewMs)).state, leaseMs, LIMITS)).toBe(false);
  expect(mayTakeOver(whole.state, leaseMs, LIMITS)).toBe(true);
  expect(mayTakeOver(whole.state, leaseMs + freezeMs, LIMITS)).toBe(false);
  const failed = stepLease(whole.state, { type: "failed", at: leaseMs + 1 }, LIMITS).state;
  expect(mayTakeOver(failed, leaseMs + 1, LIMITS)).toBe(false);
  expect(mayClaim(failed, leaseMs + 1, LIMITS)).toBe(true);
  // A pause of the daemon is an interruption too, although no request failed.
  const at = 3 * leaseMs;
  const late = stepLease(whole.state, { type: "renewed", sentAt: at, at }, LIMITS).state;
  expect(mayTakeOver(late, at, LIMITS)).toBe(false);
});

test("the watchdog freezes and continues at the same times, and kills independently", () => {
  const started = startWatchdog(0);
  expect(stepWatchdog(started, { type: "tick", at: freezeMs - 1 }, LIMITS).actions).toEqual([]);
  const frozen = stepWatchdog(started, { type: "tick", at: freezeMs }, LIMITS);
  expect(frozen.actions).toEqual(["freeze"]);
  expect(stepWatchdog(frozen.state, { type: "tick", at: freezeMs + 1 }, LIMITS).actions).toEqual([]);
  const late = stepWatchdog(frozen.state, { type: "renewed", sentAt: 1, at: freezeMs + 1 }, LIMITS);
  expect(late.actions).toEqual([]);
  const thawed = stepWatchdog(frozen.state, { type: "renewed", sentAt: freezeMs, at: freezeMs + 1 }, LIMITS);
  expect(thawed.actions).toEqual(["thaw"]);
  const at = freezeMs + frozenKillMs;
  expect(stepWatchdog(frozen.state, { type: "tick", at }, LIMITS).actions).toEqual(["kill"]);
  expect(stepWatchdog(started, { type: "fenced", at: 1 }, LIMITS).actions).toEqual(["kill"]);
});

test("the watchdog of a dead daemon kills its app-servers before the lease ends, and stopped ones immediately", () => {
  const orphaned = stepWatchdog(startWatchdog(0), { type: "orphaned", at: 1 }, LIMITS);
  expect(orphaned.actions).toEqual([]);
  const endAt = freezeMs + orphanGraceMs(LIMITS);
  expect(endAt).toBeLessThan(leaseMs);
  expect(stepWatchdog(orphaned.state, { type: "tick", at: endAt - 1 }, LIMITS).actions).toEqual([]);
  expect(stepWatchdog(orphaned.state, { type: "tick", at: endAt }, LIMITS).actions).toEqual(["kill_orphans"]);
  const frozen = stepWatchdog(startWatchdog(0), { type: "tick", at: freezeMs }, LIMITS).state;
  expect(stepWatchdog(frozen, { type: "orphaned", at: freezeMs }, LIMITS).actions).toEqual(["kill_orphans"]);
});

test("refuses limits with which two nodes could act at once, or one failed renewal would freeze the node", () => {
  expect(fleetLimits({ leaseMs: 60_000 })).toEqual({ ...FLEET_LIMITS, leaseMs: 60_000 });
  expect(() => fleetLimits({ freezeMs: leaseMs })).toThrow(/freezeMs \(30000\) must be less than leaseMs/);
  expect(() => fleetLimits({ renewTimeoutMs: freezeMs })).toThrow(/one failed renewal/);
});
