import type { Location, Workspace } from "../files/workspace.ts";
import type { CompiledPolicy, CompiledRule } from "./compile-policy.ts";
import { defaultVerdict, judgeByFirstRule, notUnderstoodVerdict, type Verdict } from "./evaluation.ts";
import type { EffectKind } from "./presets.ts";

const WHAT: Readonly<Record<EffectKind, string>> = {
  container: "controls containers",
  credentials: "prints secrets",
  "git-fetch": "fetches from the configured remotes",
  "git-local": "changes the local repository",
  "git-push": "pushes to the configured remotes",
  install: "installs packages, which run code of their own",
  network: "uses the network",
  process: "controls processes",
  "project-code": "runs code of the project, which can do what its sandbox lets it",
  read: "only reads",
  "remote-read": "reads a remote service",
  "remote-write": "changes a remote service",
  system: "changes the machine",
  unpack: "creates files with names that only an archive or patch knows: trusted like project code",
  write: "writes in the workspace",
  writeOutside: "writes outside the workspace",
};

/** The verdict on a kind of effect, from the policy's `effects` or the preset. */
export function judgeKind(kind: EffectKind, compiled: CompiledPolicy, reason?: string): Verdict {
  if (reason !== undefined) return kindVerdict(kind, compiled, reason);
  const known = compiled.kindVerdicts.get(kind);
  if (known !== undefined) return known;
  const verdict = kindVerdict(kind, compiled, WHAT[kind]);
  compiled.kindVerdicts.set(kind, verdict);
  return verdict;
}

function kindVerdict(
  kind: EffectKind,
  { policy, preset, exclusive }: CompiledPolicy,
  reason: string,
): Verdict {
  const chosen = policy.effects[kind];
  if (chosen !== undefined) return { decision: chosen, rule: `effects.${kind}`, reason };
  if (preset.allows.has(kind)) return { decision: "allow", rule: `preset/${policy.preset}/${kind}`, reason };
  return defaultVerdict(policy.default, exclusive.command, reason);
}

/** What is read at a location. */
export function judgeRead(
  path: string,
  location: Location,
  workspace: Workspace,
  compiled: CompiledPolicy,
): Verdict {
  const ruled = judgeByRules(path, location, "read", compiled);
  if (ruled !== undefined) return ruled;
  const { real } = location;
  if (real === undefined) return judgeUnknownRead(path, compiled);
  if (workspace.isCredential(real))
    return judgeKind("credentials", compiled, `reads ${real}, which holds credentials`);
  // Reading gives the model no more than it could list; only the secrets above are kept from it.
  return judgeKind("read", compiled);
}

/** A file that may be any file may be one that must not be read. */
function judgeUnknownRead(path: string, compiled: CompiledPolicy): Verdict {
  const credentials = judgeKind("credentials", compiled);
  if (credentials.decision === "allow" && !hasReadDenials(compiled)) return judgeKind("read", compiled);
  const verdict = notUnderstoodVerdict(
    path.startsWith("/")
      ? `where ${path} leads is not known before it runs`
      : "which file it reads is not known before it runs",
    compiled,
  );
  return verdict.decision === "allow" ? { ...verdict, decision: "ask" } : verdict;
}

/** Whether the user's rules keep any file from being read. */
export function hasReadDenials({ hasPathRules, deny, ask }: CompiledPolicy): boolean {
  return (
    hasPathRules &&
    [...deny, ...ask].some(({ rule }) => rule.kind === "path" && (rule.access ?? "read") === "read")
  );
}

/** What is created, changed or deleted at a location. */
export function judgeWrite(
  path: string,
  location: Location,
  workspace: Workspace,
  compiled: CompiledPolicy,
  change: "update" | "mode" | "delete" = "update",
): Verdict {
  const kind = workspace.kindOf(location);
  const shown = location.real ?? path;
  switch (kind) {
    case "device":
      return refused("disk-write", `${shown} is a device`);
    case "profile":
      return refused("persistence", `${shown} is run automatically later`);
    case "credentials":
      return refused("protected-path", `${shown} holds credentials`);
    case "owned":
      return refused("protected-path", `${shown} belongs to git or to Codex`);
    case "system":
      return refused("system-write", `${shown} belongs to the system`);
    default:
  }
  const ruled = judgeByRules(path, location, change === "delete" ? change : "update", compiled);
  if (ruled !== undefined) return ruled;
  switch (kind) {
    case "sink":
      // It discards contents, but its mode and its name are the system's.
      if (change !== "update") return refused("system-write", `${shown} belongs to the system`);
      return judgeKind("read", compiled);
    case "workspace":
    case "temp":
      return judgeKind("write", compiled, `writes ${shown}`);
    case "guarded": {
      const reason = `${shown} is a protected file: hooks, CI, editors, agents or shells obey it`;
      const inside = judgeKind("write", compiled, reason);
      // The same setting that opens everything outside the workspace opens what is protected inside.
      return inside.decision === "allow" ? judgeKind("writeOutside", compiled, reason) : inside;
    }
    default:
      return judgeKind(
        "writeOutside",
        compiled,
        kind === "unknown"
          ? `where ${path} leads is not known before it runs`
          : `writes ${shown}, outside the workspace`,
      );
  }
}

function refused(rule: string, reason: string): Verdict {
  return { decision: "deny", rule: `safety/${rule}`, reason };
}

/** The user's rules about paths: a deny or question holds for every name of a file, an allow for where it really leads. */
function judgeByRules(
  path: string,
  { real, entry }: Location,
  access: FileAccess,
  compiled: CompiledPolicy,
): Verdict | undefined {
  if (!compiled.hasPathRules) return undefined;
  const names = [path, real, entry].filter((name) => name !== undefined);
  return judgeByFirstRule(compiled, path, {
    tightens: (rule) => isAbout(rule, access) && names.some((name) => rule.path(name)),
    allows: (rule) =>
      real !== undefined &&
      entry !== undefined &&
      isAbout(rule, access) &&
      rule.path(real) &&
      rule.path(entry),
  });
}

/** What a command does to a file. */
export type FileAccess = "read" | "update" | "delete";

/** Whether a rule is about files that are used in this way. */
export function isAbout({ rule }: CompiledRule, access: FileAccess): boolean {
  if (rule.kind !== "path") return false;
  return (
    rule.access === undefined || rule.access === access || (rule.access === "write" && access !== "read")
  );
}
