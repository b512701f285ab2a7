// Small parts that all features share.
export { announce, announcement } from "./announce.ts";
export { ConfirmDialog } from "./confirm-dialog.tsx";
export { CopyButton } from "./copy-button.tsx";
export { Dialog } from "./dialog.tsx";
export { FailureBoundary } from "./failure-boundary.tsx";
export { formatBytes, formatCount, formatDuration } from "./format.ts";
export { Icon, type IconName } from "./icon.tsx";
export { loadedValue } from "./loaded-value.ts";
export { ProblemText } from "./problem-text.tsx";
export { Ago, Elapsed } from "./time.tsx";
export { type ListSnapshot, VirtualList, type VirtualListHandle } from "./virtual-list.tsx";
export { visibleText } from "./visible-text.ts";
