import { createContext, useContext } from "solid-js";
import type { SessionView, TranscriptItem } from "../feed/index.ts";
import type { MessageBlocks } from "./message-blocks.ts";

export interface TranscriptContextValue {
  readonly view: SessionView;
  /** The blocks of a message. */
  readonly blocksOf: (item: TranscriptItem) => MessageBlocks;
  /** Whether a row is expanded. Kept while the row is off screen. */
  readonly isOpen: (key: string) => boolean;
  readonly setOpen: (key: string, isOpen: boolean) => void;
  /** Opens a panel beside the transcript. */
  readonly openPanel: (id: string) => void;
}

export const TranscriptContext = createContext<TranscriptContextValue>();

export function useTranscript(): TranscriptContextValue {
  const value = useContext(TranscriptContext);
  if (!value) throw new Error("Rows need a TranscriptContext.Provider above them.");
  return value;
}
