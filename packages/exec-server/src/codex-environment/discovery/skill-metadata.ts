import { singleLine } from "./front-matter.ts";
import { YamlNode } from "./yaml-node.ts";

/** The metadata of a skill in `agents/openai.yaml`. */
export interface SkillMetadata {
  readonly dependencies: { readonly tools: readonly object[] } | null;
  readonly policy: {
    readonly allowImplicitInvocation: boolean | null;
    readonly products: readonly string[];
  } | null;
}

const NONE: SkillMetadata = { dependencies: null, policy: null };

/** Longer texts are omitted. */
const CHARACTERS = { short: 64, long: 1024 };

const PRODUCTS: ReadonlySet<string> = new Set(["chatgpt", "codex", "atlas"]);

/**
 * Reads the metadata of a skill. An unreadable file counts as missing, and the skill is listed without
 * metadata.
 */
export function readSkillMetadata(contents: string | undefined): SkillMetadata {
  if (contents === undefined) return NONE;
  try {
    const file = YamlNode.parse(contents).fields({
      interface: ["interface"],
      dependencies: ["dependencies"],
      policy: ["policy"],
    });
    assertInterface(present(file.interface));
    return {
      dependencies: dependenciesOf(present(file.dependencies)),
      policy: policyOf(present(file.policy)),
    };
  } catch {
    return NONE;
  }
}

function present(node: YamlNode | undefined): YamlNode | undefined {
  return node?.isNull === true ? undefined : node;
}

/** Validates a part that is not returned, because an error in it makes Codex ignore the whole file. */
function assertInterface(node: YamlNode | undefined): void {
  const fields = node?.fields({
    display_name: ["display_name"],
    short_description: ["short_description"],
    icon_small: ["icon_small"],
    icon_large: ["icon_large"],
    brand_color: ["brand_color"],
    default_prompt: ["default_prompt"],
  });
  for (const field of Object.values(fields ?? {})) present(field)?.text();
}

function policyOf(node: YamlNode | undefined): SkillMetadata["policy"] {
  if (!node) return null;
  const { allow, products } = node.fields({ allow: ["allow_implicit_invocation"], products: ["products"] });
  return {
    allowImplicitInvocation: present(allow)?.bool() ?? null,
    products: (products?.items() ?? []).map(productOf),
  };
}

/** Parses a product name in lower case or upper case, but not mixed. */
function productOf(node: YamlNode): string {
  const text = node.text();
  const product = text.toLowerCase();
  if (PRODUCTS.has(product) && (text === product || text === product.toUpperCase())) return product;
  throw new TypeError(`Unknown product "${text}".`);
}

function dependenciesOf(node: YamlNode | undefined): SkillMetadata["dependencies"] {
  const tools = (node?.fields({ tools: ["tools"] }).tools?.items() ?? []).map(toolOf);
  const usable = tools.filter((tool) => tool["type"] !== null && tool["value"] !== null);
  return usable.length === 0 ? null : { tools: usable };
}

function toolOf(node: YamlNode): Readonly<Record<string, string | number | null>> {
  const fields = node.fields({
    type: ["type"],
    value: ["value"],
    description: ["description"],
    transport: ["transport"],
    command: ["command"],
    url: ["url"],
    oauth: ["oauth"],
  });
  const { port } = present(fields.oauth)?.fields({ port: ["callbackPort", "callback_port"] }) ?? {};
  return {
    type: bounded(fields.type, CHARACTERS.short),
    value: bounded(fields.value, CHARACTERS.long),
    description: bounded(fields.description, CHARACTERS.long),
    transport: bounded(fields.transport, CHARACTERS.short),
    command: bounded(fields.command, CHARACTERS.long),
    url: bounded(fields.url, CHARACTERS.long),
    oauthCallbackPort: present(port)?.port() ?? null,
  };
}

function bounded(node: YamlNode | undefined, characters: number): string | null {
  const text = singleLine(present(node)?.text() ?? "");
  return text === "" || Array.from(text).length > characters ? null : text;
}
