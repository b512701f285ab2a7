/** The highlighter's name for the language of a file: the extension, or the name of a file without one. */
export function languageOf(path: string): string {
  const name = (path.split("/").at(-1) ?? "").toLowerCase();
  if (name === "dockerfile" || name.startsWith("dockerfile.")) return "dockerfile";
  return name.includes(".") ? (name.split(".").at(-1) ?? "") : "";
}
