import { fixedFolder, resolvePath } from "../files/path.ts";
import type { Workspace } from "../files/workspace.ts";
import type { FileSystemEntry, FileSystemPermissions, PermissionProfile } from "../request/request.ts";
import type { CompiledPolicy } from "./compile-policy.ts";
import { defaultVerdict, evaluation, type PolicyEvaluation, type Grant, type Verdict } from "./evaluation.ts";
import { judgeKind, judgeRead, judgeWrite } from "./judge-path.ts";

/** A request for permissions: the allowed part of it is granted, and a person may grant more. */
export function evaluatePermissions(
  requested: PermissionProfile,
  workspace: Workspace,
  policy: CompiledPolicy,
): PolicyEvaluation {
  const { verdicts, grant } = judgePermissions(requested, workspace, policy);
  return evaluation(summarize(verdicts, policy), { grant });
}

/** Sorts a requested profile into what is granted, what a person may grant, and what is refused. */
export function judgePermissions(
  requested: PermissionProfile,
  workspace: Workspace,
  policy: CompiledPolicy,
): { readonly verdicts: readonly Verdict[]; readonly grant: Grant } {
  const verdicts: Verdict[] = [];
  const sort = (verdict: Verdict): Verdict => {
    verdicts.push(verdict);
    return verdict;
  };
  const network = requested.network?.enabled === true ? sort(judgeNetwork(policy)).decision : "deny";
  const files = requested.fileSystem ?? undefined;
  const read = new Map(
    (files?.read ?? []).map((path) => [path, sort(judgeFolder(path, "read", workspace, policy)).decision]),
  );
  const write = new Map(
    (files?.write ?? []).map((path) => [path, sort(judgeFolder(path, "write", workspace, policy)).decision]),
  );
  // An entry that denies only narrows: it is kept, and is no reason to ask.
  const entries = new Map(
    (files?.entries ?? []).map((entry) => [
      entry,
      entry.access === "deny" ? "allow" : sort(judgeEntry(entry, workspace, policy)).decision,
    ]),
  );
  const subset = (...wanted: readonly string[]): PermissionProfile => {
    const granted: { network?: PermissionProfile["network"]; fileSystem?: FileSystemPermissions } = {};
    if (wanted.includes(network) && requested.network?.enabled === true) granted.network = { enabled: true };
    const reads = [...read].filter(([, decision]) => wanted.includes(decision)).map(([path]) => path);
    const writes = [...write].filter(([, decision]) => wanted.includes(decision)).map(([path]) => path);
    const kept = [...entries].filter(([, decision]) => wanted.includes(decision)).map(([entry]) => entry);
    if (reads.length + writes.length > 0 || kept.some(({ access }) => access !== "deny")) {
      granted.fileSystem = {
        read: files?.read === null ? null : reads,
        write: files?.write === null ? null : writes,
        ...(files?.entries === undefined ? {} : { entries: kept }),
        ...(files?.globScanMaxDepth === undefined ? {} : { globScanMaxDepth: files.globScanMaxDepth }),
      };
    }
    return granted;
  };
  return { verdicts, grant: { allowed: subset("allow"), ifAccepted: subset("allow", "ask") } };
}

/** Asking wins over granting a part: a person may grant the rest. What is refused is left out silently. */
function summarize(verdicts: readonly Verdict[], { policy }: CompiledPolicy): Verdict {
  const asked = verdicts.find(({ decision }) => decision === "ask");
  if (asked !== undefined) return asked;
  const allowed = verdicts.find(({ decision }) => decision === "allow");
  const refused = verdicts.filter(({ decision }) => decision === "deny");
  if (allowed === undefined)
    return (
      refused[0] ??
      defaultVerdict(
        policy.default === "allow" ? "deny" : policy.default,
        false,
        "asks for nothing that can be granted",
      )
    );
  if (refused.length === 0) return allowed;
  return {
    ...allowed,
    reason: `${allowed.reason}; not granted: ${refused.map(({ reason }) => reason).join("; ")}`,
  };
}

/** All hosts at once: only where the policy is open to every host. */
function judgeNetwork(policy: CompiledPolicy): Verdict {
  if (
    policy.preset.safety &&
    (policy.hostsDenied.length > 0 || policy.deny.some(({ rule }) => rule.kind === "host"))
  ) {
    return { decision: "deny", rule: "network.deny", reason: "the whole network would include denied hosts" };
  }
  return judgeKind("network", policy, "the whole network");
}

function judgeFolder(
  path: string,
  access: "read" | "write",
  workspace: Workspace,
  policy: CompiledPolicy,
): Verdict {
  const absolute = workspace.absolute(path, workspace.cwd);
  if (!policy.preset.safety)
    return { decision: "allow", rule: "preset/bypass", reason: "nothing is checked" };
  const location = workspace.locate(absolute, /[*?[]/.test(path));
  const { real } = location;
  if (access === "write") {
    // Everything below is granted with it: the root, a home or a folder around the workspace is too much.
    if (real !== undefined && workspace.isPrecious(real) && !workspace.inWorkspace(real))
      return { decision: "deny", rule: "safety/wide-grant", reason: `${real} is too wide to be granted` };
    return judgeWrite(absolute, location, workspace, policy);
  }
  if (real === undefined || holdsCredentials(real, workspace))
    return judgeKind("credentials", policy, `${real ?? absolute} holds credentials`);
  return judgeRead(absolute, location, workspace, policy);
}

/** The root and home folders have credentials somewhere below. */
function holdsCredentials(path: string, workspace: Workspace): boolean {
  if (workspace.isCredential(path) || path === "/" || /^\/(?:home|Users|root|etc)(?:\/[^/]+)?$/.test(path))
    return !workspace.inWorkspace(path);
  return path === workspace.home;
}

function judgeEntry(
  { path, access }: FileSystemEntry,
  workspace: Workspace,
  policy: CompiledPolicy,
): Verdict {
  const mode = access === "write" ? "write" : "read";
  switch (path.type) {
    case "path":
      return judgeFolder(path.path, mode, workspace, policy);
    case "glob_pattern": {
      // A glob grants what it can reach: everything below its fixed folder.
      const folder = fixedFolder(resolvePath(workspace.cwd, path.pattern));
      const verdict = judgeFolder(folder, mode, workspace, policy);
      if (verdict.decision !== "allow") return verdict;
      return judgeFolder(resolvePath(workspace.cwd, path.pattern), mode, workspace, policy);
    }
    case "special":
      return judgeSpecial(path.value, mode, workspace, policy);
    default:
      return { decision: "deny", rule: "safety/unknown-kind", reason: "a kind of path that is not known" };
  }
}

function judgeSpecial(
  { kind, subpath }: { readonly kind: string; readonly subpath?: string | null },
  mode: "read" | "write",
  workspace: Workspace,
  policy: CompiledPolicy,
): Verdict {
  switch (kind) {
    case "minimal":
      return mode === "read"
        ? judgeKind("read", policy, "what programs need to start")
        : { decision: "deny", rule: "safety/wide-grant", reason: "writes to system files" };
    case "project_roots":
      return judgeFolder(resolvePath(workspace.root, subpath ?? "."), mode, workspace, policy);
    case "tmpdir":
    case "slash_tmp":
      return judgeFolder("/tmp", mode, workspace, policy);
    case "root":
      return judgeFolder("/", mode, workspace, policy);
    default:
      return {
        decision: "deny",
        rule: "safety/unknown-kind",
        reason: `a special path that is not known: ${kind}`,
      };
  }
}
