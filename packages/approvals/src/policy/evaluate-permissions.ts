import { fixedFolder, GLOB_WILDCARD, resolvePath } from "../files/path.ts";
import type { Workspace } from "../files/workspace.ts";
import type { FileSystemEntry, PermissionProfile } from "../request/request.ts";
import type { CompiledPolicy } from "./compile-policy.ts";
import {
  BYPASSED,
  defaultVerdict,
  evaluation,
  refusal,
  type Grant,
  type PolicyEvaluation,
  type Verdict,
} from "./evaluation.ts";
import { judgeKind, judgeRead, judgeWrite, type JudgeContext } from "./judge-path.ts";
import type { Decision } from "./presets.ts";

/** A request for permissions: the allowed part of it is granted, and a person may grant more. */
export function evaluatePermissions(requested: PermissionProfile, context: JudgeContext): PolicyEvaluation {
  const { verdicts, grant } = judgePermissions(requested, context);
  return evaluation(summarize(verdicts, context.policy), { grant });
}

/** A part of a profile that was asked for, with the verdict on it. */
interface Judged<T> {
  readonly part: T;
  readonly verdict: Verdict;
}

/** Sorts a requested profile into what is granted, what a person may grant, and what is refused. */
export function judgePermissions(
  { network, fileSystem }: PermissionProfile,
  context: JudgeContext,
): { readonly verdicts: readonly Verdict[]; readonly grant: Grant } {
  const judgeAll = <T>(parts: readonly T[] | null | undefined, judge: (part: T) => Verdict): Judged<T>[] =>
    (parts ?? []).map((part) => ({ part, verdict: judge(part) }));
  const hosts = judgeAll(network?.enabled === true ? [{ enabled: true }] : [], () =>
    judgeNetwork(context.policy),
  );
  const read = judgeAll(fileSystem?.read, (path) => judgeFolder(path, "read", context));
  const write = judgeAll(fileSystem?.write, (path) => judgeFolder(path, "write", context));
  const entries = judgeAll(fileSystem?.entries, (entry) => judgeEntry(entry, context));
  const grantIf = (...wanted: readonly Decision[]): PermissionProfile => {
    const granted = <T>(all: readonly Judged<T>[]): T[] =>
      all.filter(({ verdict }) => wanted.includes(verdict.decision)).map(({ part }) => part);
    const [enabled] = granted(hosts);
    const [reads, writes, kept] = [granted(read), granted(write), granted(entries)];
    const hasFiles = reads.length + writes.length > 0 || kept.some(({ access }) => access !== "deny");
    return {
      ...(enabled && { network: enabled }),
      ...(hasFiles && {
        fileSystem: {
          read: fileSystem?.read === null ? null : reads,
          write: fileSystem?.write === null ? null : writes,
          ...(fileSystem?.entries && { entries: kept }),
          ...(fileSystem?.globScanMaxDepth !== undefined && {
            globScanMaxDepth: fileSystem.globScanMaxDepth,
          }),
        },
      }),
    };
  };
  const verdicts = [...hosts, ...read, ...write, ...entries].map(({ verdict }) => verdict);
  return {
    verdicts: verdicts.filter((verdict) => verdict !== NARROWS),
    grant: { allowed: grantIf("allow"), ifAccepted: grantIf("allow", "ask") },
  };
}

/** An entry that denies only narrows: it is kept, and is no reason to ask. */
const NARROWS: Verdict = { decision: "allow", rule: "nothing", reason: "takes away permissions" };

/** Asking wins over granting a part: a person may grant the rest. What is refused is left out silently. */
function summarize(verdicts: readonly Verdict[], { policy }: CompiledPolicy): Verdict {
  const asked = verdicts.find(({ decision }) => decision === "ask");
  if (asked !== undefined) return asked;
  const allowed = verdicts.find(({ decision }) => decision === "allow");
  const refused = verdicts.filter(({ decision }) => decision === "deny");
  const fallback = policy.default === "allow" ? "deny" : policy.default;
  if (allowed === undefined)
    return refused[0] ?? defaultVerdict(fallback, false, "asks for nothing that can be granted");
  if (refused.length === 0) return allowed;
  const left = refused.map(({ reason }) => reason).join("; ");
  return { ...allowed, reason: `${allowed.reason}; not granted: ${left}` };
}

/** All hosts at once: only where the policy is open to every host. */
function judgeNetwork(policy: CompiledPolicy): Verdict {
  const deniesHosts = policy.hostsDenied.length > 0 || policy.deny.some(({ rule }) => rule.kind === "host");
  return policy.preset.safety && deniesHosts
    ? { decision: "deny", rule: "network.deny", reason: "the whole network would include denied hosts" }
    : judgeKind("network", policy, "the whole network");
}

function judgeFolder(path: string, access: "read" | "write", context: JudgeContext): Verdict {
  const { workspace, policy } = context;
  if (!policy.preset.safety) return BYPASSED;
  const absolute = workspace.absolute(path, workspace.cwd);
  const location = workspace.locate(absolute, /[*?[]/.test(path));
  const { real } = location;
  if (access === "write")
    // Everything below is granted with it: the root, a home or a folder around the workspace is too much.
    return real !== undefined && workspace.isPrecious(real) && !workspace.inWorkspace(real)
      ? refusal("wide-grant", `${real} is too wide to be granted`)
      : judgeWrite(absolute, location, context);
  return real === undefined || holdsCredentials(real, workspace)
    ? judgeKind("credentials", policy, `${real ?? absolute} holds credentials`)
    : judgeRead(absolute, location, context);
}

/** The root and home folders have credentials somewhere below. */
function holdsCredentials(path: string, workspace: Workspace): boolean {
  if (workspace.isCredential(path) || /^\/(?:home|Users|root|etc)(?:\/[^/]+)?$/.test(path))
    return !workspace.inWorkspace(path);
  return workspace.holdsCredentials(path, true);
}

function judgeEntry({ path, access }: FileSystemEntry, context: JudgeContext): Verdict {
  if (access === "deny") return NARROWS;
  const { root, cwd } = context.workspace;
  const judge = (folder: string): Verdict => judgeFolder(folder, access, context);
  switch (path.type) {
    case "path":
      return judge(path.path);
    case "glob_pattern": {
      // A glob grants what it can reach: everything below its fixed folder.
      const pattern = resolvePath(cwd, path.pattern);
      const verdict = judge(fixedFolder(pattern, GLOB_WILDCARD));
      return verdict.decision === "allow" ? judge(pattern) : verdict;
    }
    case "special":
      break;
    default:
      return refusal("unknown-kind", "a kind of path that is not known");
  }
  const { kind, subpath } = path.value;
  switch (kind) {
    case "minimal":
      return access === "read"
        ? judgeKind("read", context.policy, "what programs need to start")
        : refusal("wide-grant", "writes to system files");
    case "project_roots":
      return judge(resolvePath(root, subpath ?? "."));
    case "tmpdir":
    case "slash_tmp":
      return judge("/tmp");
    case "root":
      return judge("/");
    default:
      return refusal("unknown-kind", `a special path that is not known: ${kind}`);
  }
}
