import { posix } from "node:path";
import { fixedFolder } from "../files/path.ts";
import type { Location, Workspace } from "../files/workspace.ts";
import type { Effect } from "../programs/declaration/effect.ts";
import type { ParsedCall } from "../programs/declaration/parsed-call.ts";
import type { Word } from "../programs/declaration/word.ts";
import { outputOf, type Output } from "../programs/name-listers.ts";
import { INHERITED, type PlainCommand, type StandardInput } from "../shell/plain-script.ts";

/** Tracks what the earlier commands of a script may have changed, which makes path facts from before the script outdated. */
export class ScriptChanges {
  /** Whether files may have been created, so that patterns may have other matches. */
  hasWritten = false;
  readonly #workspace: Workspace;
  /** Paths that may now have links below them, each with whether it may be a link itself. */
  readonly #links = new Map<string, boolean>();

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
  }

  /** Links, copies and moves change the targets of later paths; every write changes the matches of patterns. */
  record(effects: readonly Effect[], folder: string): void {
    if (effects.every(onlyLooks)) return;
    this.hasWritten = true;
    const sources = effects.flatMap((effect) =>
      effect.kind === "read" || effect.kind === "delete" ? [effect.path] : [],
    );
    let linked: readonly Word[] | undefined;
    for (const effect of effects) {
      if (effect.kind === "link") this.#relink(effect.path, true, folder);
      else if (effect.kind === "write" && sources.some((source) => source !== effect.path)) {
        linked ??= sources.filter((source) => this.#mayBeLink(source, folder));
        // A command that reads or moves other files may copy links along with them.
        const isLink = linked.some((source) => source !== effect.path);
        this.#relink(effect.path, isLink, folder);
      }
    }
  }

  #mayBeLink({ text, isGlob }: Word, folder: string): boolean {
    if (text === undefined) return true;
    const { real, entry } = this.#workspace.locate(this.#workspace.absolute(text, folder), isGlob);
    return real === undefined || real !== entry;
  }

  #relink({ text, isGlob }: Word, isLink: boolean, folder: string): void {
    const { real, entry } = this.#workspace.locate(this.#workspace.absolute(text ?? "/", folder), isGlob);
    for (const path of [real, entry].map((one) => fixedFolder(one ?? "/")))
      this.#links.set(path, isLink || this.#links.get(path) === true);
  }

  isRelinked({ real, entry }: Location): boolean {
    return this.#links.size > 0 && [real, entry].some((path) => this.#leadsThroughChange(path));
  }

  #leadsThroughChange(path: string | undefined): boolean {
    if (path === undefined || this.#links.get(path) === true) return true;
    for (let folder = path; folder !== "/" && folder !== "";) {
      folder = posix.dirname(folder);
      if (this.#links.has(folder)) return true;
    }
    return false;
  }
}

function onlyLooks({ kind }: Effect): boolean {
  return kind === "read" || kind === "enter" || kind === "connect";
}

/** The output of the commands of a script, which others may read. Determined lazily, because most commands don't depend on it. */
export class ScriptOutput {
  /** The standard input of the command that is being judged. */
  input: StandardInput = INHERITED;
  readonly #ended: (readonly [PlainCommand, ParsedCall | undefined])[] = [];
  #all: Output = "nothing";

  add(command: PlainCommand, call: ParsedCall | undefined): void {
    this.#ended.push([command, call]);
  }

  /** Whether words that are known only at run time can name only files of the workspace. */
  hasOnlyNames(workspace: Workspace): boolean {
    return !/^(?:file|text)$/.test(this.input.kind) && /^(?:names|nothing)$/.test(this.ofAll(workspace));
  }

  ofAll(workspace: Workspace): Output {
    for (const [{ builtin, input, redirects, folders }, call] of this.#ended.splice(0)) {
      let own: Output = builtin === undefined || builtin.kind === "source" ? "anything" : "nothing";
      if (!folders.every((folder) => workspace.holds(folder))) own = "anything";
      else if (builtin === undefined && call !== undefined)
        own = outputOf(call, input.kind === "pipe" && redirects.length === 0);
      if (this.#all === "nothing") this.#all = own;
      else if (own !== "nothing" && own !== this.#all) this.#all = "anything";
    }
    return this.#all;
  }
}
