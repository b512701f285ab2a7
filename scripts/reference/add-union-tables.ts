import {
  Comment,
  type CommentDisplayPart,
  type DeclarationReflection,
  type ProjectReflection,
  ReflectionKind,
  type UnionType,
} from "typedoc";

/**
 * Adds a table to the comment of each union: the meaning of every literal, such as an error code, and the interface of every
 * member that a `type` or `kind` discriminates, such as an event. The Markdown plugin prints neither.
 */
export function addUnionTables(project: ProjectReflection): void {
  for (const reflection of project.getReflectionsByKind(ReflectionKind.TypeAlias)) {
    const alias = reflection as DeclarationReflection;
    if (alias.type?.type !== "union") continue;
    const rows = [...literalRows(alias.type), ...memberRows(alias.type)];
    if (rows.length === 0) continue;
    alias.comment ??= new Comment();
    alias.comment.summary.push(
      { kind: "text", text: "\n\n| Value | Meaning |\n| ------ | ------ |\n" },
      ...rows.flatMap(({ value, meaning }): CommentDisplayPart[] => [
        { kind: "text", text: `| \`${value}\` | ` },
        ...meaning,
        { kind: "text", text: " |\n" },
      ]),
    );
  }
}

interface Row {
  readonly value: string;
  readonly meaning: readonly CommentDisplayPart[];
}

function literalRows({ types, elementSummaries }: UnionType): Row[] {
  if (!elementSummaries) return [];
  return types.flatMap((type, at) => {
    const summary = elementSummaries[at] ?? [];
    if (type.type !== "literal" || summary.length === 0) return [];
    return [{ value: JSON.stringify(type.value), meaning: summary.map(onOneLine) }];
  });
}

/** Line breaks and bars would end a table cell. */
function onOneLine(part: CommentDisplayPart): CommentDisplayPart {
  const text = part.text.replaceAll("\n", " ").replaceAll("|", String.raw`\|`);
  return Object.assign({}, part, { text });
}

function memberRows({ types }: UnionType): Row[] {
  return types.flatMap((type) => {
    if (type.type !== "reference") return [];
    const target = type.reflection as DeclarationReflection | undefined;
    if (target?.type?.type === "union") return memberRows(target.type);
    const tag = target?.children?.find(({ name }) => name === "type" || name === "kind");
    if (!target || tag?.type?.type !== "literal") return [];
    const link: CommentDisplayPart = { kind: "inline-tag", tag: "@link", text: target.name, target };
    return [{ value: JSON.stringify(tag.type.value), meaning: [link] }];
  });
}
