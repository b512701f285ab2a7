// Compares docs/ai-sdk.md with the settings of the provider and of the packages that programs migrate from.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { HANDLER_NAMES } from "../packages/ai-sdk/src/options/approval-settings.ts";
import { OPTION_KEYS } from "../packages/ai-sdk/src/options/model-options.ts";
import { SETTINGS_KEYS } from "../packages/ai-sdk/src/options/settings.ts";

const root = join(import.meta.dirname, "..");
const page = readFileSync(join(root, "docs/ai-sdk.md"), "utf8");

/** The text below a heading, up to the next heading of its level or above. */
function section(heading: string): string {
  const [level = ""] = /^#+/.exec(heading) ?? [];
  const from = page.indexOf(`\n${heading}\n`);
  if (from === -1) throw new Error(`docs/ai-sdk.md has no heading "${heading}".`);
  const rest = page.slice(from + heading.length + 2);
  const end = rest.search(new RegExp(`^#{1,${level.length}} `, "m"));
  return end === -1 ? rest : rest.slice(0, end);
}

/** The names in the first column of the tables of a section, each with the text of the second column. */
function rows(text: string): Map<string, string> {
  const lines = [...text.matchAll(/^\| (?<names>[^|]+)\| (?<second>[^|]+)\|/gm)];
  return new Map(
    lines.flatMap(({ groups }) =>
      [...(groups?.["names"] ?? "").matchAll(/`(?<name>\w+)`/g)].map((match) => [
        match.groups?.["name"] ?? "",
        groups?.["second"]?.trim() ?? "",
      ]),
    ),
  );
}

/** The members of the settings that a package declares. */
function settingsOf(packageName: string): string[] {
  const types = readFileSync(join(root, "node_modules", packageName, "dist/index.d.ts"), "utf8");
  const interfaces = types.matchAll(
    /^interface Codex\w*(?:Settings|ProviderOptions)\b[^{]*\{\n(?<members>[^]*?)^\}/gm,
  );
  const members = [...interfaces].flatMap(({ groups }) =>
    [...(groups?.["members"] ?? "").matchAll(/^ {4}(?<name>\w+)\??:/gm)].map(
      (match) => match.groups?.["name"] ?? "",
    ),
  );
  return [...new Set(members)];
}

describe("the docs of the AI SDK provider", () => {
  it("list every option with its default, and no others", () => {
    const options = rows(section("## Options"));
    expect([...options.keys()].toSorted()).toEqual(
      [...new Set([...SETTINGS_KEYS, ...OPTION_KEYS])].toSorted(),
    );
    expect([...options.values()].filter((text) => text === "")).toEqual([]);
  });

  it("list every handler", () => {
    const handlers = rows(section("### Handlers"));
    expect([...handlers.keys()].toSorted()).toEqual(Object.keys(HANDLER_NAMES).toSorted());
  });

  it.each(["ai-sdk-provider-codex-cli", "ai-sdk-provider-codex-app-server"])(
    "list every setting of %s in the migration table",
    (packageName) => {
      const settings = settingsOf(packageName);
      expect(settings.length).toBeGreaterThan(10);
      const named = new Set(section("## Migration").match(/\w+/g));
      expect(settings.filter((name) => !named.has(name))).toEqual([]);
    },
  );
});
