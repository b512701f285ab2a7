import { lazy } from "solid-js";

/** Loaded with the first form or other body that few approvals have. */
const load = async () => import("./answer-forms.ts");

export const ElicitationActions = lazy(async () => ({ default: (await load()).ElicitationActions }));
export const ElicitationBody = lazy(async () => ({ default: (await load()).ElicitationBody }));
export const McpToolBody = lazy(async () => ({ default: (await load()).McpToolBody }));
export const PermissionsBody = lazy(async () => ({ default: (await load()).PermissionsBody }));
export const QuestionActions = lazy(async () => ({ default: (await load()).QuestionActions }));
export const QuestionBody = lazy(async () => ({ default: (await load()).QuestionBody }));
