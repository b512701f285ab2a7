import { fixedFolder, GLOB_WILDCARD, hasWildcard, resolvePath } from "../files/path.ts";
import type { FileSystemEntry, PermissionProfile } from "../request/request.ts";
import { BYPASSED, refusal, type Verdict } from "./evaluation.ts";
import { judgeKind, judgeRead, judgeWrite, type JudgeContext } from "./judge-path.ts";

/** The verdicts on all parts of a requested profile. It is granted whole or not at all. */
export function judgePermissions(profile: PermissionProfile, context: JudgeContext): readonly Verdict[] {
  const { network, fileSystem } = profile;
  const { policy } = context;
  const { read, write, entries } = fileSystem ?? {};
  const deniesHosts = policy.hostsDenied.length > 0 || policy.deny.some(({ rule }) => rule.kind === "host");
  const hosts: Verdict =
    policy.preset.safety && deniesHosts
      ? { decision: "deny", rule: "network.deny", reason: "the whole network would include denied hosts" }
      : judgeKind("network", policy, "the whole network");
  return [
    ...(network?.enabled === true ? [hosts] : []),
    ...(read ?? []).map((path) => judgeFolder(path, "read", context)),
    ...(write ?? []).map((path) => judgeFolder(path, "write", context)),
    // An entry that denies only narrows the profile, so there is no reason to ask.
    ...(entries ?? []).flatMap(({ path, access }) =>
      access === "deny" ? [] : [judgeEntry(path, access, context)],
    ),
  ];
}

type Access = "read" | "write";

function judgeFolder(path: string, access: Access, context: JudgeContext): Verdict {
  const { workspace, policy } = context;
  if (!policy.preset.safety) return BYPASSED;
  const absolute = workspace.absolute(path, workspace.cwd);
  const location = workspace.locate(absolute, hasWildcard(path));
  const { real } = location;
  if (access === "write")
    // A grant includes everything below: the root, a home or a folder around the workspace is too much.
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

function judgeEntry(path: FileSystemEntry["path"], access: "read" | "write", context: JudgeContext): Verdict {
  const { root, cwd } = context.workspace;
  const judge = (folder: string): Verdict => judgeFolder(folder, access, context);
  if (path.type === "path") return judge(path.path);
  if (path.type === "glob_pattern") {
    // A glob may grant everything below its fixed folder.
    const pattern = resolvePath(cwd, path.pattern);
    const verdict = judge(fixedFolder(pattern, GLOB_WILDCARD));
    return verdict.decision === "allow" ? judge(pattern) : verdict;
  }
  switch (path.value.kind) {
    case "minimal":
      return access === "read"
        ? judgeKind("read", context.policy, "reads what programs need to start")
        : refusal("wide-grant", "writes to system files");
    case "project_roots":
      return judge(resolvePath(root, path.value.subpath ?? "."));
    case "tmpdir":
    case "slash_tmp":
      return judge("/tmp");
    case "root":
      return judge("/");
    default:
      return refusal("unknown-kind", `an unknown special path: ${path.value.kind}`);
  }
}
