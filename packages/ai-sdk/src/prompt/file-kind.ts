/** What the model is shown of a file: its picture, its words, or nothing. */
export type FileKind = "image" | "text" | "other";

/** Text that is not `text/…`. */
const textTypes =
  /^application\/(?:json|[\w.-]+\+json|x-ndjson|jsonl|xml|[\w.-]+\+xml|(?:x-)?yaml|(?:x-)?toml|(?:x-)?javascript|ecmascript|(?:x-)?typescript|(?:x-)?sh|x-shellscript|(?:x-)?sql|graphql|(?:x-)?httpd-php|x-python|x-ruby|x-perl|x-tex|x-latex)$/;

/**
 * Names that browsers and systems give a wrong type or none: `.ts` is a video to them, `.py` a stream of octets.
 * What is no valid UTF-8 is refused later, whatever its name.
 */
const textNames =
  /(?:\.(?:[cm]?[jt]sx?|json[cl5]?|md|mdx|txt|csv|tsv|log|ya?ml|toml|ini|cfg|conf|env|xml|svg|html?|s?css|less|vue|svelte|astro|py|rb|rs|go|java|kts?|swift|c|h|cc|cpp|hpp|cs|m|mm|php|pl|lua|r|jl|ex|exs|erl|hs|ml|scala|clj|dart|zig|nim|sh|bash|zsh|fish|ps1|bat|sql|graphql|gql|proto|tf|nix|gradle|diff|patch|tex|rst|adoc|ipynb)|(?:^|\/)(?:dockerfile|makefile|license|readme|\.gitignore|\.editorconfig))$/i;

/** The kind of a file by its type and name. A drawing in SVG is text: models are shown none. */
export function fileKind(mediaType: string, filename: string | undefined): FileKind {
  const type = mediaType.toLowerCase().split(";", 1).join("").trim();
  if (type === "image/svg+xml") return "text";
  if (/^image(?:\/|$)/.test(type)) return "image";
  if (/^text(?:\/|$)/.test(type) || textTypes.test(type)) return "text";
  return filename !== undefined && textNames.test(filename) ? "text" : "other";
}
