import { fixedFolder, GLOB_WILDCARD, hasWildcard, resolvePath } from "../files/path.ts";
import type { FileSystemEntry, PermissionProfile } from "../request/request.ts";
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

/** A request for permissions: the allowed part of it is granted, and a person may grant more. */
export function evaluatePermissions(requested: PermissionProfile, context: JudgeContext): PolicyEvaluation {
  const { verdicts, grant } = judgePermissions(requested, context);
  const asked = verdicts.find(({ decision }) => decision === "ask");
  // Asking wins over granting a part: a person may grant the rest.
  if (asked !== undefined) return evaluation(asked, { grant });
  const allowed = verdicts.find(({ decision }) => decision === "allow");
  const refused = verdicts.filter(({ decision }) => decision === "deny");
  const fallback = context.policy.policy.default === "ask" ? "ask" : "deny";
  const nothing = defaultVerdict(fallback, false, "asks for nothing that can be granted");
  if (allowed === undefined || refused.length === 0)
    return evaluation(allowed ?? refused[0] ?? nothing, { grant });
  const left = refused.map(({ reason }) => reason).join("; ");
  return evaluation({ ...allowed, reason: `${allowed.reason}; not granted: ${left}` }, { grant });
}

/** Sorts a requested profile into what is granted, what a person may grant, and what is refused. */
export function judgePermissions(
  { network, fileSystem }: PermissionProfile,
  context: JudgeContext,
): { readonly verdicts: readonly Verdict[]; readonly grant: Grant } {
  const judgeAll = <T>(parts: readonly T[] | null | undefined, judge: (part: T) => Verdict) =>
    (parts ?? []).map((part) => ({ part, verdict: judge(part) }));
  const hosts = judgeAll(network?.enabled === true ? [{ enabled: true }] : [], () => judgeNetwork(context));
  const read = judgeAll(fileSystem?.read, (path) => judgeFolder(path, "read", context));
  const write = judgeAll(fileSystem?.write, (path) => judgeFolder(path, "write", context));
  const entries = judgeAll(fileSystem?.entries, (entry) => judgeEntry(entry, context));
  const grantIf = (isGranted: (verdict: Verdict) => boolean): PermissionProfile => {
    const granted = <T>(all: readonly { readonly part: T; readonly verdict: Verdict }[]): T[] =>
      all.filter(({ verdict }) => isGranted(verdict)).map(({ part }) => part);
    const [enabled] = granted(hosts);
    const [reads, writes, kept] = [granted(read), granted(write), granted(entries)];
    const hasFiles = reads.length + writes.length > 0 || kept.some(({ access }) => access !== "deny");
    const depth = fileSystem?.globScanMaxDepth;
    return {
      ...(enabled && { network: enabled }),
      ...(hasFiles && {
        fileSystem: {
          read: fileSystem?.read === null ? null : reads,
          write: fileSystem?.write === null ? null : writes,
          ...(fileSystem?.entries && { entries: kept }),
          ...(depth !== undefined && { globScanMaxDepth: depth }),
        },
      }),
    };
  };
  const verdicts = [...hosts, ...read, ...write, ...entries].map(({ verdict }) => verdict);
  return {
    verdicts: verdicts.filter((verdict) => verdict !== NARROWS),
    grant: {
      allowed: grantIf(({ decision }) => decision === "allow"),
      ifAccepted: grantIf(({ decision }) => decision !== "deny"),
    },
  };
}

/** An entry that denies only narrows: it is kept, and is no reason to ask. */
const NARROWS: Verdict = { decision: "allow", rule: "nothing", reason: "takes away permissions" };

/** All hosts at once: only where the policy is open to every host. */
function judgeNetwork({ policy }: JudgeContext): Verdict {
  const deniesHosts = policy.hostsDenied.length > 0 || policy.deny.some(({ rule }) => rule.kind === "host");
  return policy.preset.safety && deniesHosts
    ? { decision: "deny", rule: "network.deny", reason: "the whole network would include denied hosts" }
    : judgeKind("network", policy, "the whole network");
}

function judgeFolder(path: string, access: "read" | "write", context: JudgeContext): Verdict {
  const { workspace, policy } = context;
  if (!policy.preset.safety) return BYPASSED;
  const absolute = workspace.absolute(path, workspace.cwd);
  const location = workspace.locate(absolute, hasWildcard(path));
  const { real } = location;
  if (access === "write")
    // Everything below is granted with it: the root, a home or a folder around the workspace is too much.
    return real !== undefined && workspace.isPrecious(real) && !workspace.inWorkspace(real)
      ? refusal("wide-grant", `${real} is too wide to be granted`)
      : judgeWrite(absolute, location, context);
  // The root and home folders have credentials somewhere below.
  const isSecret = (folder: string): boolean =>
    workspace.isCredential(folder) || /^\/(?:home|Users|root|etc)(?:\/[^/]+)?$/.test(folder)
      ? !workspace.inWorkspace(folder)
      : workspace.holdsCredentials(folder, true);
  return real === undefined || isSecret(real)
    ? judgeKind("credentials", policy, `${real ?? absolute} holds credentials`)
    : judgeRead(absolute, location, context);
}

function judgeEntry({ path, access }: FileSystemEntry, context: JudgeContext): Verdict {
  if (access === "deny") return NARROWS;
  const { root, cwd } = context.workspace;
  const judge = (folder: string): Verdict => judgeFolder(folder, access, context);
  if (path.type === "path") return judge(path.path);
  if (path.type === "glob_pattern") {
    // A glob grants what it can reach: everything below its fixed folder.
    const pattern = resolvePath(cwd, path.pattern);
    const verdict = judge(fixedFolder(pattern, GLOB_WILDCARD));
    return verdict.decision === "allow" ? judge(pattern) : verdict;
  }
  const { kind = "unknown", subpath = undefined } = path.type === "special" ? path.value : {};
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
