import { YamlNode } from "./yaml-node.ts";

/** The front matter of a SKILL.md file. */
export interface FrontMatter {
  readonly name: string;
  readonly description: string;
  readonly shortDescription: string | null;
}

const NAME_CHARACTERS = 64;
const FENCE = "---";

/** Unicode white space, as in Rust. `\s` matches a different set. */
const SPACES = /\p{White_Space}+/u;
const SPACE = /^\p{White_Space}/u;

/** Replaces every run of white space with one space, and trims the text. */
export function singleLine(text: string): string {
  return text
    .split(SPACES)
    .filter((word) => word !== "")
    .join(" ");
}

/** Reads the front matter of a skill. Throws if Codex would skip the skill. */
export function readFrontMatter(contents: string, folderName: string): FrontMatter {
  const yaml = fencedLines(contents);
  const read = decode(yaml.join("\n")) ?? decode(repaired(yaml).join("\n"));
  if (!read) throw new TypeError("The YAML is invalid.");
  const name = read.name || singleLine(folderName) || "skill";
  if (Array.from(name).length > NAME_CHARACTERS) throw new TypeError("The name is too long.");
  if (read.description === "") throw new TypeError("The description is missing.");
  return { name, description: read.description, shortDescription: read.shortDescription || null };
}

function decode(yaml: string): FrontMatter | undefined {
  try {
    const fields = YamlNode.parse(yaml).fields({
      name: ["name"],
      description: ["description"],
      metadata: ["metadata"],
    });
    const extra = fields.metadata?.fields({ shortDescription: ["short-description"] });
    return {
      name: optionalLine(fields.name),
      description: optionalLine(fields.description),
      shortDescription: optionalLine(extra?.shortDescription),
    };
  } catch {
    return undefined;
  }
}

function optionalLine(node: YamlNode | undefined): string {
  return !node || node.isNull ? "" : singleLine(node.text());
}

function fencedLines(contents: string): string[] {
  const [first = "", ...lines] = contents.split("\n").map((line) => line.replace(/\r$/, ""));
  const end = lines.findIndex((line) => singleLine(line) === FENCE);
  if (singleLine(first) !== FENCE || end <= 0) throw new TypeError("The front matter is missing.");
  return lines.slice(0, end);
}

/**
 * Quotes plain text values that contain a colon or start with a bracket. Many skills have them, and Codex
 * accepts them.
 */
function repaired(lines: readonly string[]): string[] {
  let blockIndent: number | undefined;
  return lines.map((line) => {
    const indent = line.search(/[^ ]|$/);
    if (blockIndent !== undefined && (singleLine(line) === "" || indent > blockIndent)) return line;
    blockIndent = undefined;
    const colon = line.indexOf(":");
    const key = line.slice(0, Math.max(colon, 0));
    const value = line.slice(colon + 1);
    if (singleLine(key) === "" || (value !== "" && !SPACE.test(value))) return line;
    const { lead, scalar, comment } = splitValue(value);
    if (/^[|>]/.test(scalar)) blockIndent = indent;
    if (scalar === "" || /^[|>'"]/.test(scalar)) return line;
    const isProse = /:\p{White_Space}/u.test(scalar) || (/^[[{@`]/.test(scalar) && !isYaml(scalar));
    return isProse ? `${key}:${lead}'${scalar.replaceAll("'", "''")}'${comment}` : line;
  });
}

function splitValue(value: string): { lead: string; scalar: string; comment: string } {
  const start = value.search(/\P{White_Space}|$/u);
  const hash = value.search(/(?<=^|\p{White_Space})#/u);
  const end = start + trimmedEnd(value.slice(start, hash < 0 ? undefined : hash)).length;
  return {
    lead: value.slice(0, start),
    scalar: value.slice(start, end),
    comment: hash < 0 ? "" : value.slice(end),
  };
}

function trimmedEnd(text: string): string {
  let end = text.length;
  while (end > 0 && SPACE.test(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

function isYaml(text: string): boolean {
  try {
    YamlNode.parse(text);
    return true;
  } catch {
    return false;
  }
}
