import { z } from "zod";
import { timestamp } from "./parameters.ts";

/** A path in a session's files. */
export const filePath = z
  .string()
  .min(1)
  .max(4096)
  .regex(/^[^\0]+$/, "A path must not contain a NUL character.")
  .meta({ description: "Relative to the session's folder, or absolute." });

const fileType = z.enum(["file", "folder", "other"]);

export const folderEntry = z
  .object({
    name: z.string().meta({ description: "Bytes that are not UTF-8 are replaced by U+FFFD." }),
    type: z.enum(["file", "folder", "link", "other"]),
    bytes: z.int().nullable().meta({ description: "Null if it is not a regular file." }),
    modifiedAt: timestamp,
    linksTo: fileType.nullable().optional().meta({
      description:
        "For symbolic links only. Null if the target does not exist or is outside the folders that the daemon serves.",
    }),
  })
  .meta({ id: "FolderEntry" });
export type FolderEntry = z.infer<typeof folderEntry>;

export const folderPage = z
  .object({
    path: z.string().meta({ description: "Absolute, with symbolic links resolved." }),
    data: z.array(folderEntry),
    next: z.string().nullable(),
  })
  .meta({ id: "FolderPage" });
export type FolderPage = z.infer<typeof folderPage>;

export const fileMatch = z
  .object({
    path: z.string().meta({ description: "Relative to the session's folder." }),
    type: z.enum(["file", "folder"]),
    score: z.number(),
    indices: z
      .array(z.int())
      .nullable()
      .meta({ description: "Positions of the matched characters in the path." }),
  })
  .meta({ id: "FileMatch" });
export type FileMatch = z.infer<typeof fileMatch>;

/** A message of the change stream. */
export const fileChange = z
  .discriminatedUnion("type", [
    z.object({
      type: z.literal("watching"),
      path: z.string().meta({ description: "Absolute, with symbolic links resolved." }),
      folders: z.int(),
      isComplete: z
        .boolean()
        .meta({ description: "False if there are more folders than the daemon can watch." }),
    }),
    z.object({
      type: z.literal("changed"),
      paths: z
        .array(z.string())
        .meta({ description: "Absolute. Each path was created, changed, removed or replaced." }),
    }),
    z.object({
      type: z.literal("overflow"),
      path: z.string().meta({ description: "Anything below this path may have changed. Read it again." }),
    }),
    z.object({
      type: z.literal("ended"),
      path: z.string().meta({ description: "The watched path was removed or moved. The stream ends." }),
    }),
  ])
  .meta({ id: "WatchedFileChange" });
export type WatchedFileChange = z.infer<typeof fileChange>;

export const uploadedImage = z
  .object({
    id: z.string().meta({ description: 'For a message: `{ type: "uploadedImage", imageId }`.' }),
    type: z.enum(["image/png", "image/jpeg", "image/gif", "image/webp"]),
    bytes: z.int(),
  })
  .meta({ id: "UploadedImage" });
export type UploadedImage = z.infer<typeof uploadedImage>;
