import type { v2 } from "codexkit";

/** One kind of Codex's items. */
export type ItemOf<Type extends v2.ThreadItem["type"]> = Extract<v2.ThreadItem, { readonly type: Type }>;
