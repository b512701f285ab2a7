import type { Invocation } from "./invocation.ts";
import { printedText } from "./known-output.ts";

/** What a command hands to the next one in a pipe, for the ways in which people hide a script in plain sight. */
export function decodeInput({ name, argv, input }: Invocation): string | undefined {
  const args = argv.slice(1);
  const words = args.map(({ text }) => text);
  if (name === "echo" || name === "printf") return printedText(name, args);
  if (input === undefined || input.length > 65_536) return undefined;
  switch (name) {
    case "dd":
    case "sponge":
      return input;
    case "cat":
    case "tee":
      return words.length === 0 || (words.length === 1 && words[0] === "-") || name === "tee"
        ? input
        : undefined;
    case "base64":
    case "gbase64":
      return words.some((word) => /^-[dD]|^--d/.test(word))
        ? Buffer.from(input, "base64").toString("utf8")
        : undefined;
    case "xxd":
      return words.join("").includes("r") && words.join("").includes("p")
        ? Buffer.from(input.replaceAll(/\s/g, ""), "hex").toString("utf8")
        : undefined;
    case "rev":
      return input
        .split("\n")
        .map((line) => line.split("").toReversed().join(""))
        .join("\n");
    case "tr":
      return translate(input, words);
    default:
      return undefined;
  }
}

/** `tr a-z n-za-m` and `tr -d x`, the two that hide commands. */
function translate(input: string, [from = "", to]: readonly string[]): string | undefined {
  if (from === "-d" && to !== undefined) {
    const dropped = new Set(ranges(to).split(""));
    return input
      .split("")
      .filter((char) => !dropped.has(char))
      .join("");
  }
  if (to === undefined || from.startsWith("-") || /[[\\]/.test(from + to)) return undefined;
  const [source, target] = [ranges(from), ranges(to)];
  return input
    .split("")
    .map((char) =>
      source.includes(char) ? (target[Math.min(source.indexOf(char), target.length - 1)] ?? char) : char,
    )
    .join("");
}

function ranges(set: string): string {
  return set.replaceAll(/(.)-(.)/gs, (_all, first: string, last: string) => {
    const from = first.charCodeAt(0);
    return Array.from({ length: Math.min(256, Math.max(0, last.charCodeAt(0) - from + 1)) }, (_, index) =>
      String.fromCharCode(from + index),
    ).join("");
  });
}
