/** The language of a file, as the highlighter knows it: the ending of its name, or the name of files that have none. */
export function languageOf(path: string): string {
  const name = (path.split("/").at(-1) ?? "").toLowerCase();
  if (name === "dockerfile" || name.startsWith("dockerfile.")) return "dockerfile";
  return name.includes(".") ? (name.split(".").at(-1) ?? "") : "";
}
