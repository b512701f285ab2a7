import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import csharp from "highlight.js/lib/languages/csharp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import dockerfile from "highlight.js/lib/languages/dockerfile";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import kotlin from "highlight.js/lib/languages/kotlin";
import markdown from "highlight.js/lib/languages/markdown";
import php from "highlight.js/lib/languages/php";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import swift from "highlight.js/lib/languages/swift";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";

const languages = {
  bash,
  c,
  cpp,
  csharp,
  css,
  diff,
  dockerfile,
  go,
  ini,
  java,
  javascript,
  json,
  kotlin,
  markdown,
  php,
  python,
  ruby,
  rust,
  sql,
  swift,
  typescript,
  xml,
  yaml,
};
for (const [name, language] of Object.entries(languages)) hljs.registerLanguage(name, language);
hljs.registerAliases(["shell", "console", "shell-session", "zsh"], { languageName: "bash" });
hljs.registerAliases(["toml"], { languageName: "ini" });

/** Colours of tokens. Each is a highlight of the page. */
export type TokenColour = "keyword" | "string" | "number" | "comment" | "title" | "type";

export interface HighlightRequest {
  readonly id: number;
  readonly code: string;
  readonly language: string;
}

export interface CodeToken {
  readonly from: number;
  readonly to: number;
  readonly colour: TokenColour;
}

export interface HighlightResponse {
  readonly id: number;
  readonly tokens: readonly CodeToken[];
}

const COLOURS: Readonly<Record<string, TokenColour>> = {
  keyword: "keyword",
  literal: "keyword",
  "meta keyword": "keyword",
  selector: "keyword",
  "selector-tag": "keyword",
  deletion: "keyword",
  string: "string",
  regexp: "string",
  addition: "string",
  subst: "string",
  number: "number",
  symbol: "number",
  comment: "comment",
  quote: "comment",
  doctag: "comment",
  title: "title",
  "title.function": "title",
  "title.class": "type",
  section: "title",
  name: "keyword",
  attr: "title",
  attribute: "title",
  property: "title",
  built_in: "type",
  type: "type",
  class: "type",
  meta: "comment",
  variable: "number",
};

interface ScopeNode {
  readonly scope?: string;
  readonly children: readonly (ScopeNode | string)[];
}

/** Finds the coloured ranges of code. None for an unknown language. */
export function findTokens(code: string, language: string): CodeToken[] {
  if (!hljs.getLanguage(language)) return [];
  const result = hljs.highlight(code, { language, ignoreIllegals: true });
  const { rootNode } = result._emitter as unknown as { readonly rootNode: ScopeNode };
  const tokens: CodeToken[] = [];
  let position = 0;
  const walk = (node: ScopeNode | string, colour: TokenColour | undefined): void => {
    if (typeof node === "string") {
      const from = position;
      position += node.length;
      const last = tokens.at(-1);
      if (!colour || node === "") return;
      if (last?.to === from && last.colour === colour) tokens[tokens.length - 1] = { ...last, to: position };
      else tokens.push({ from, to: position, colour });
      return;
    }
    const { scope = "" } = node;
    const own = COLOURS[scope] ?? COLOURS[scope.split(".")[0] ?? ""] ?? colour;
    for (const child of node.children) walk(child, own);
  };
  walk(rootNode, undefined);
  return tokens;
}
