import { posix } from "node:path";
import { fixedFolder } from "../files/path.ts";
import type { Location, Workspace } from "../files/workspace.ts";
import type { Effect } from "../programs/declaration/effect.ts";
import type { Word } from "../programs/declaration/word.ts";

/** What the earlier commands of a script may have changed, so that path facts from before the script no longer hold. */
export class ScriptChanges {
  /** Whether files may have been created: what patterns match may have changed. */
  hasWritten = false;
  readonly #workspace: Workspace;
  /** Paths where a link may now be. */
  readonly #links = new Set<string>();
  /** Paths below which links may be. */
  readonly #copies = new Set<string>();

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
  }

  /** Links, copies and moves change where later paths lead; anything that writes changes what patterns match. */
  record(effects: readonly Effect[], folder: string): void {
    if (effects.every(onlyLooks)) return;
    const sources = new Set<Word>();
    for (const effect of effects)
      if (effect.kind === "read" || effect.kind === "delete") sources.add(effect.path);
    let linked: ReadonlySet<Word> | undefined;
    for (const effect of effects) {
      if (onlyLooks(effect)) continue;
      this.hasWritten = true;
      if (effect.kind === "link") this.#relink(effect.path, true, folder);
      else if (effect.kind === "write" && isMoreThan(sources, effect.path)) {
        linked ??= new Set([...sources].filter((source) => this.#mayBeLink(source, folder)));
        // A command that reads or moves other files may copy links along with them.
        this.#relink(effect.path, isMoreThan(linked, effect.path), folder);
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
    const paths = isLink ? this.#links : this.#copies;
    for (const path of [real, entry]) paths.add(fixedFolder(path ?? "/"));
  }

  /** Whether a location may lead elsewhere by now. */
  isRelinked({ real, entry }: Location): boolean {
    if (this.#links.size + this.#copies.size === 0) return false;
    return [real, entry].some((path) => path === undefined || this.#leadsThroughChange(path));
  }

  #leadsThroughChange(path: string): boolean {
    if (this.#links.has(path)) return true;
    for (let folder = path; folder !== "/" && folder !== "";) {
      folder = posix.dirname(folder);
      if (this.#links.has(folder) || this.#copies.has(folder)) return true;
    }
    return false;
  }
}

function onlyLooks({ kind }: Effect): boolean {
  return kind === "read" || kind === "enter" || kind === "connect";
}

/** Whether a set has anything besides one word. */
function isMoreThan(words: ReadonlySet<Word>, one: Word): boolean {
  return words.size > (words.has(one) ? 1 : 0);
}
