const RESPONSE_BYTES = 4 * 1024 * 1024;
const MAX_CAPABILITIES = 2_048;
const MAX_WARNINGS = 64;
const TRUNCATED = "capability discovery size limit reached";

interface Plugin {
  readonly id: string;
  readonly skills: readonly object[];
}

interface Inventory {
  readonly plugins: Plugin[];
  readonly skills: object[];
  warnings: string[];
}

/**
 * The result of a discovery, kept within Codex's limits. Entries that don't fit are omitted, and the first
 * warning says so.
 */
export class CapabilityList {
  readonly #list: Inventory;
  #count = 0;
  #bytes = 0;
  #isTruncated = false;

  constructor(warnings: readonly string[]) {
    this.#list = { plugins: [], skills: [], warnings: [...warnings] };
  }

  warn(message: string): void {
    if (this.#list.warnings.length < MAX_WARNINGS) this.#list.warnings.push(message);
  }

  /** Adds a plugin. It counts as one entry, and each of its skills as another. */
  addPlugin(plugin: Plugin): void {
    const skills = plugin.skills.slice(0, Math.max(MAX_CAPABILITIES - this.#count - 1, 0));
    if (skills.length < plugin.skills.length) this.#isTruncated = true;
    const kept = { ...plugin, skills };
    if (this.#admits(1 + skills.length, kept)) this.#list.plugins.push(kept);
  }

  addSkill(skill: object): void {
    if (this.#admits(1, skill)) this.#list.skills.push(skill);
  }

  finish(): object {
    const list = this.#list;
    list.plugins.sort((left, right) => (left.id < right.id ? -1 : 1));
    if (!this.#isTruncated && sizeOf(list) <= RESPONSE_BYTES) return list;
    list.warnings = [TRUNCATED, ...list.warnings.slice(0, MAX_WARNINGS - 1)];
    if (sizeOf(list) > RESPONSE_BYTES) list.warnings = [TRUNCATED];
    let over = sizeOf(list) - RESPONSE_BYTES;
    while (over > 0) {
      const dropped = list.skills.pop() ?? list.plugins.pop();
      if (!dropped) break;
      over -= sizeOf(dropped) + 1;
    }
    return list;
  }

  #admits(count: number, entry: object): boolean {
    const bytes = sizeOf(entry);
    if (this.#count + count > MAX_CAPABILITIES || this.#bytes + bytes > RESPONSE_BYTES) {
      this.#isTruncated = true;
      return false;
    }
    this.#count += count;
    this.#bytes += bytes;
    return true;
  }
}

function sizeOf(value: object): number {
  return Buffer.byteLength(JSON.stringify(value));
}
