import { posix } from "node:path";
import type { Location } from "../files/workspace.ts";
import { LIMITS } from "../limits.ts";
import { readEndpoint } from "../network/endpoint.ts";
import type { Effect } from "../programs/declaration/effect.ts";
import type { Word } from "../programs/declaration/word.ts";
import type { TreeReading } from "../programs/tree-readers.ts";
import { notUnderstoodVerdict, pickStricter, refusal, type Verdict } from "./evaluation.ts";
import {
  hasReadDenials,
  judgeHost,
  judgeKind,
  judgeRead,
  judgeWrite,
  type FileAccess,
  type JudgeContext,
} from "./judge-path.ts";
import { ScriptChanges, ScriptOutput } from "./script-changes.ts";
import { judgePattern, judgeTree } from "./unnamed-files.ts";

export type InnerEffect = Extract<Effect, { readonly kind: "command" | "shell" | "stdin-code" }>;

/** The uses of a path, each with the access that the user's path rules refer to. */
const PATH_USES = {
  read: "read",
  enter: "read",
  execute: "read",
  update: "update",
  mode: "mode",
  delete: "delete",
  "delete-tree": "delete",
  "link-target": "update",
} as const satisfies Record<string, FileAccess>;
type PathUse = keyof typeof PATH_USES;

/** Judges single effects of commands, in view of what earlier commands of the script changed. */
export class EffectJudge {
  readonly output = new ScriptOutput();
  readonly changes: ScriptChanges;
  readonly #context: JudgeContext;

  constructor(context: JudgeContext) {
    this.#context = context;
    this.changes = new ScriptChanges(context.workspace);
  }

  judge(effect: Exclude<Effect, InnerEffect>, folder: string): Verdict {
    const { workspace, policy } = this.#context;
    switch (effect.kind) {
      case "read": {
        const isPrinted = effect.path.text === undefined && effect.path.isInput !== false;
        return isPrinted && this.output.hasOnlyNames(workspace) && !hasReadDenials(policy)
          ? judgeKind("read", policy)
          : this.#judgePaths(effect.path, folder, "read");
      }
      case "enter":
      case "execute":
        return this.#judgePaths(effect.path, folder, effect.kind);
      case "write":
        return this.#judgePaths(effect.path, folder, effect.changesMode === true ? "mode" : "update");
      case "delete":
        if (!effect.isRecursive) return this.#judgePaths(effect.path, folder, "delete");
        return this.#emptiesWorkspace(effect.path, folder)
          ? judgeKind("writeOutside", policy, "deletes everything in the workspace")
          : this.#judgePaths(effect.path, folder, "delete-tree");
      case "link": {
        const { path, target } = effect;
        const parent = posix.dirname(workspace.absolute(path.text ?? "", folder));
        // With a link out of the workspace, later writes would look like writes in the workspace.
        const targets = [folder, parent].map((from) => this.#judgePaths(target, from, "link-target"));
        return targets.reduce(pickStricter, this.#judgePaths(path, folder, "update"));
      }
      case "connect": {
        const { text } = effect.target;
        return judgeHost(text === undefined ? undefined : readEndpoint(text), effect.sends, policy);
      }
      case "inline-code":
        return judgeKind("project-code", policy);
      case "action": {
        const { action } = effect;
        // Project code, installs and git act on the project that they run in.
        const isProject = action === "project-code" || action === "install" || action.startsWith("git-");
        if (!isProject || workspace.holds(folder)) return judgeKind(action, policy);
        const { real = folder } = workspace.locate(folder);
        return judgeKind("writeOutside", policy, `acts on ${real}, outside the workspace`);
      }
    }
  }

  #judgePaths({ text, isGlob }: Word, folder: string, use: PathUse): Verdict {
    const { workspace, policy, budget } = this.#context;
    // A file whose name is known only at run time may be any file.
    const unknown = (): Verdict => this.#judgeAt("a file", { real: undefined, entry: undefined }, use);
    if (text === undefined || text.length > LIMITS.pathChars) return unknown();
    if (!budget.spend("judgedPathChars", text.length)) return unknown();
    const absolute = workspace.absolute(text, folder);
    if (isGlob !== true) return this.#judgeAt(absolute, workspace.locate(absolute), use);
    const existing = workspace.candidatesOf(absolute);
    if (existing === null) return unknown();
    let worst: Verdict | undefined;
    for (const path of existing ?? [])
      worst = pickStricter(worst, this.#judgeAt(path, workspace.locate(path), use));
    // Judged by the pattern: matches that were not looked up or that an earlier command may have created, and the pattern itself,
    // which a shell keeps if nothing matches.
    const isTree = text.includes("**");
    if (existing === undefined || this.changes.hasWritten || (existing.length === 0 && !isTree)) {
      worst = pickStricter(worst, this.#judgeAt(absolute, workspace.locate(absolute, true), use));
      worst = pickStricter(worst, judgePattern(absolute, PATH_USES[use], policy));
    }
    return worst ?? NO_EFFECT;
  }

  #judgeAt(path: string, location: Location, use: PathUse): Verdict {
    const { workspace, policy } = this.#context;
    const { real, entry } = location;
    switch (use) {
      case "read":
        return judgeRead(path, location, this.#context);
      case "enter":
        return this.#unlessRelinked(path, location, judgeRead(path, location, this.#context));
      case "execute": {
        const read = judgeRead(path, location, this.#context);
        if (read.matched !== undefined && read.decision !== "allow") return read;
        if (![real, entry].every((name) => name !== undefined && workspace.inWorkspace(name)))
          return judgeKind("writeOutside", policy, `runs ${path}, outside the workspace`);
        return this.#unlessRelinked(path, location, judgeKind("project-code", policy));
      }
      case "delete-tree": {
        const precious = [real, entry].find((tree) => tree !== undefined && workspace.isPrecious(tree));
        if (precious !== undefined) return refusal("delete-root", `deletes ${precious}`);
        return real !== undefined && workspace.holdsWorkspace(real)
          ? judgeKind("writeOutside", policy, `deletes ${real} with its repository and settings`)
          : this.#judgeAt(path, location, "delete");
      }
      case "link-target":
        return real !== undefined && workspace.inWorkspace(real)
          ? this.#judgeAt(path, location, "update")
          : judgeKind("writeOutside", policy, `links to ${path}, outside the workspace`);
      default: {
        const verdict = judgeWrite(path, location, this.#context, use);
        return verdict.decision === "allow" ? this.#unlessRelinked(path, location, verdict) : verdict;
      }
    }
  }

  #unlessRelinked(path: string, location: Location, verdict: Verdict): Verdict {
    if (!this.changes.isRelinked(location)) return verdict;
    const problem = `an earlier command of the script may change where ${path} leads`;
    return notUnderstoodVerdict(problem, this.#context.policy);
  }

  judgeTree({ text }: Word, folder: string, reading: TreeReading): Verdict {
    const { workspace, policy } = this.#context;
    const absolute = workspace.absolute(text ?? "", folder);
    const { real = absolute } = workspace.locate(absolute);
    const ruled = judgeTree(real, reading, this.#context);
    if (ruled !== undefined) return ruled;
    return workspace.holdsCredentials(real, reading.hasHidden)
      ? judgeKind("credentials", policy, `reads all of ${real}, which holds credentials`)
      : NO_EFFECT;
  }

  /** Whether this is `rm -rf *` in or above a root of the workspace. */
  #emptiesWorkspace({ text = "", isGlob }: Word, folder: string): boolean {
    if (isGlob !== true || !/(?:^|\/)[*?]+\/?$/.test(text)) return false;
    const { workspace } = this.#context;
    const { real } = workspace.locate(posix.dirname(workspace.absolute(text, folder)));
    return real === undefined || workspace.holdsWorkspace(real);
  }
}

export const NO_EFFECT: Verdict = { decision: "allow", rule: "nothing", reason: "has no effect" };
