import type { Place, Places } from "../files/places.ts";
import { cautioned, denied, type Finding } from "../finding.ts";
import { rangeOf } from "../network/host-range.ts";
import type { Effect } from "../programs/effect.ts";
import { isSender } from "../shell/taint.ts";
import { TAINT, type Invocation } from "../shell/invocation.ts";
import { targetPaths } from "../shell/targets.ts";
import { UNKNOWN } from "../shell/value.ts";
import type { Check } from "./check.ts";
import { DELETION } from "./deletion.ts";
import { judgeEnvironment } from "./environment.ts";
import { GIT } from "./git.ts";
import { MACHINE, machineName } from "./machine.ts";
import { exfiltration, NETWORK } from "./network.ts";

const CHECKS = new Map<string, readonly Check[]>();
for (const table of [DELETION, GIT, MACHINE, NETWORK]) {
  for (const [name, check] of Object.entries(table)) CHECKS.set(name, [...(CHECKS.get(name) ?? []), check]);
}

/** Whether there is anything to check about a program of this name. */
export function isChecked(name: string): boolean {
  return CHECKS.has(machineName(name));
}

/** Everything that the built-in checks have to say about one command. */
export function inspect(
  invocation: Invocation,
  effects: readonly Effect[],
  places: Places,
): readonly Finding[] {
  const findings: (Finding | undefined)[] = [...invocation.findings];
  for (const check of CHECKS.get(machineName(invocation.name)) ?? [])
    findings.push(check(invocation, places));
  findings.push(exfiltration(invocation, places));
  if (
    invocation.assignments.length > 0 ||
    /^(?:export|declare|typeset|readonly|local)$/.test(invocation.name)
  )
    findings.push(judgeEnvironment(invocation, places));
  for (const { mode, target } of invocation.redirects) {
    if (/^\/dev\/(?:tcp|udp)\//.test(target.text))
      findings.push(denied("reverse-shell", "opens a raw connection through /dev/tcp"));
    else if (mode === "write") findings.push(...writing(target, invocation, places));
  }
  for (const effect of effects) {
    if (effect.kind === "write")
      for (const file of effect.files) findings.push(...writing(file, invocation, places));
    if (
      effect.kind === "network" &&
      effect.endpoints.some((endpoint) => endpoint !== undefined && rangeOf(endpoint.host) === "metadata")
    ) {
      findings.push(denied("metadata-service", "asks the machine's cloud for its credentials"));
    }
  }
  return findings.filter((finding) => finding !== undefined);
}

function writing(file: Parameters<typeof targetPaths>[0], invocation: Invocation, places: Places): Finding[] {
  return targetPaths(file, invocation, places).flatMap((path) => {
    // `find / -exec truncate -s0 {} +`: every file below.
    if (file.glob && !path.includes(UNKNOWN) && places.isPrecious(path) && !places.holdsWorkspace(path))
      return [denied("system-write", `writes to everything in ${path}`)];
    return writeFinding(places.placeOf(path), path) ?? [];
  });
}

/** Places where nothing may be written, whoever asks. Also what a patch is held against. */
export function writeFinding(place: Place, path: string): Finding | undefined {
  switch (place) {
    case "device":
      return denied("disk-write", `writes to the device ${path}`);
    case "profile":
      return denied("persistence", `${path} runs by itself later`);
    case "credentials":
      return denied("protected-path", `${path} holds credentials`);
    case "protected":
      return denied("protected-path", `${path} belongs to git or to Codex`);
    case "system":
      return denied("system-write", `${path} belongs to the system`);
    default:
      return undefined;
  }
}

/** Credentials that are read by one command of a script, and another that sends something after it. */
export function inspectSending(
  invocations: readonly Invocation[],
): { invocation: Invocation; finding: Finding } | undefined {
  const reads = invocations.findIndex(({ taint }) => (taint & TAINT.credentials) !== 0);
  if (reads === -1) return undefined;
  const sender = invocations.slice(reads + 1).find(({ name }) => isSender(name));
  if (sender === undefined) return undefined;
  return {
    invocation: sender,
    finding: cautioned("exfiltration", "the script reads credentials and then uses the network"),
  };
}
