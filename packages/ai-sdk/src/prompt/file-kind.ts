/** How a file is passed to the model: as an image, as text, or not at all. */
export type FileKind = "image" | "text" | "other";

/** Text formats whose type is not `text/…`. */
const textTypes =
  /^application\/(?:json|[\w.-]+\+json|x-ndjson|jsonl|xml|[\w.-]+\+xml|(?:x-)?yaml|(?:x-)?toml|(?:x-)?javascript|ecmascript|(?:x-)?typescript|(?:x-)?sh|x-shellscript|(?:x-)?sql|graphql|(?:x-)?httpd-php|x-python|x-ruby|x-perl|x-tex|x-latex)$/;

/**
 * Extensions for which browsers and operating systems report a wrong type or none: a video for `.ts`, bytes for `.py`. Content
 * that is not valid UTF-8 is rejected later, regardless of its name.
 */
const textNames =
  /(?:\.(?:[cm]?[jt]sx?|json[cl5]?|md|mdx|txt|csv|tsv|log|ya?ml|toml|ini|cfg|conf|env|xml|svg|html?|s?css|less|vue|svelte|astro|py|rb|rs|go|java|kts?|swift|c|h|cc|cpp|hpp|cs|m|mm|php|pl|lua|r|jl|ex|exs|erl|hs|ml|scala|clj|dart|zig|nim|sh|bash|zsh|fish|ps1|bat|sql|graphql|gql|proto|tf|nix|gradle|diff|patch|tex|rst|adoc|ipynb)|(?:^|\/)(?:dockerfile|makefile|license|readme|\.gitignore|\.editorconfig))$/i;

/** Determines a file's kind from its type and name. SVG is text, because models accept no SVG images. */
export function fileKind(mediaType: string, filename: string | undefined): FileKind {
  const type = mediaType.toLowerCase().split(";", 1).join("").trim();
  if (type === "image/svg+xml") return "text";
  if (/^image(?:\/|$)/.test(type)) return "image";
  if (/^text(?:\/|$)/.test(type) || textTypes.test(type)) return "text";
  return filename !== undefined && textNames.test(filename) ? "text" : "other";
}
