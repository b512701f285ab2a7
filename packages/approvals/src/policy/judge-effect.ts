import { posix } from "node:path";
import type { Location } from "../files/workspace.ts";
import { LIMITS } from "../limits.ts";
import { readEndpoint } from "../network/endpoint.ts";
import type { Action, Effect } from "../programs/declaration/effect.ts";
import type { Word } from "../programs/declaration/word.ts";
import type { TreeReading } from "../programs/tree-readers.ts";
import { evaluateEndpoint } from "./evaluate-network.ts";
import { notUnderstoodVerdict, pickStricter, refusal, type Verdict } from "./evaluation.ts";
import {
  hasReadDenials,
  judgeKind,
  judgeRead,
  judgeWrite,
  type FileAccess,
  type JudgeContext,
} from "./judge-path.ts";
import type { ScriptChanges } from "./script-changes.ts";
import type { ScriptOutput } from "./script-output.ts";
import { judgePattern, judgeTree } from "./unnamed-files.ts";

/** The effects that run another command, which is judged separately. */
export type InnerEffect = Extract<Effect, { readonly kind: "command" | "shell" | "stdin-code" }>;
export type OwnEffect = Exclude<Effect, InnerEffect>;

/** What a command does to a path that it names. */
type PathUse = FileAccess | "enter" | "execute" | "delete-tree" | "link-target";

/** Judges single effects of commands, in view of what earlier commands of the script changed. */
export class EffectJudge {
  readonly #context: JudgeContext;
  readonly #changes: ScriptChanges;
  readonly #output: ScriptOutput;

  constructor(context: JudgeContext, changes: ScriptChanges, output: ScriptOutput) {
    this.#context = context;
    this.#changes = changes;
    this.#output = output;
  }

  judge(effect: OwnEffect, folder: string): Verdict {
    const { policy } = this.#context;
    switch (effect.kind) {
      case "read":
        return isPrinted(effect.path) && this.#output.hasOnlyNames() && !hasReadDenials(policy)
          ? judgeKind("read", policy)
          : this.#judgePaths(effect.path, folder, "read");
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
      case "link":
        return this.#judgeLink(effect, folder);
      case "connect": {
        const { text } = effect.target;
        const endpoint = text === undefined ? undefined : readEndpoint(text);
        return evaluateEndpoint(endpoint, effect.sends, policy);
      }
      case "inline-code":
        return judgeKind("project-code", policy);
      case "action":
        return this.#judgeAction(effect.action, folder);
    }
  }

  /** Project code, installs and git act on the project that they run in. */
  #judgeAction(action: Action, folder: string): Verdict {
    const { workspace, policy } = this.#context;
    const isProject = action === "project-code" || action === "install" || action.startsWith("git-");
    if (isProject && !workspace.holds(folder)) {
      const { real = folder } = workspace.locate(folder);
      return judgeKind("writeOutside", policy, `acts on ${real}, outside the workspace`);
    }
    return judgeKind(action, policy);
  }

  #judgePaths({ text, isGlob }: Word, folder: string, use: PathUse): Verdict {
    const { workspace, policy } = this.#context;
    const isKnown =
      text !== undefined &&
      text.length <= LIMITS.pathChars &&
      this.#context.budget.spend("judgedPathChars", text.length);
    if (!isKnown) return this.#judgeUnknown(use);
    const absolute = workspace.absolute(text, folder);
    if (isGlob !== true) return this.#judgeAt(absolute, workspace.locate(absolute), use);
    const existing = workspace.candidatesOf(absolute);
    if (existing === null) return this.#judgeUnknown(use);
    let worst: Verdict | undefined;
    for (const path of existing ?? [])
      worst = pickStricter(worst, this.#judgeAt(path, workspace.locate(path), use));
    // Judged by the pattern: what was not looked up, what an earlier command may have created, and the name that a shell
    // leaves as it is if nothing matches.
    const isTree = text.includes("**");
    if (existing === undefined || this.#changes.hasWritten || (existing.length === 0 && !isTree)) {
      worst = pickStricter(worst, this.#judgeAt(absolute, workspace.locate(absolute, true), use));
      worst = pickStricter(worst, judgePattern(absolute, accessOf(use), policy));
    }
    return worst ?? NO_EFFECT;
  }

  /** A file whose name is only known at run time may be any file. */
  #judgeUnknown(use: PathUse): Verdict {
    return this.#judgeAt("a file", { real: undefined, entry: undefined }, use);
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
      case "delete-tree":
        for (const tree of [real, entry])
          if (tree !== undefined && workspace.isPrecious(tree))
            return refusal("delete-root", `deletes ${tree}`);
        return real !== undefined && workspace.holdsWorkspace(real)
          ? judgeKind("writeOutside", policy, `deletes ${real} with its repository and settings`)
          : this.#judgeAt(path, location, "delete");
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
    if (!this.#changes.isRelinked(location)) return verdict;
    const problem = `an earlier command of the script may change where ${path} leads`;
    return notUnderstoodVerdict(problem, this.#context.policy);
  }

  /** The files in a folder that a call reads as a whole. */
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

  /** `rm -rf *` in a root of the workspace, or above it. */
  #emptiesWorkspace({ text = "", isGlob }: Word, folder: string): boolean {
    if (isGlob !== true || !/(?:^|\/)[*?]+\/?$/.test(text)) return false;
    const { workspace } = this.#context;
    const { real } = workspace.locate(posix.dirname(workspace.absolute(text, folder)));
    return real === undefined || workspace.holdsWorkspace(real);
  }

  /** A link out of the workspace would let later writes pass for writes in the workspace. */
  #judgeLink({ path, target }: Extract<Effect, { kind: "link" }>, folder: string): Verdict {
    const parent = posix.dirname(this.#context.workspace.absolute(path.text ?? "", folder));
    return pickStricter(
      pickStricter(this.#judgePaths(path, folder, "update"), this.#judgePaths(target, folder, "link-target")),
      this.#judgePaths(target, parent, "link-target"),
    );
  }
}

/** Whether a word may be what another command prints. */
function isPrinted({ text, isInput }: Word): boolean {
  return text === undefined && isInput !== false;
}

/** What the user's rules about paths take a use for. */
function accessOf(use: PathUse): FileAccess {
  if (use === "enter" || use === "execute") return "read";
  if (use === "link-target") return "update";
  return use === "delete-tree" ? "delete" : use;
}

export const NO_EFFECT: Verdict = { decision: "allow", rule: "nothing", reason: "has no effect" };
