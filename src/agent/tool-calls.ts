import type { ToolCall, Transcript } from './transcript.js';

export function startTool(transcript: Transcript, call: ToolCall): Transcript {
  const { id, name, detail } = call;
  return {
    ...transcript,
    usedTools: true,
    lastTool: { name, ...(detail !== undefined && { detail }) },
    toolsUnderWay: { ...transcript.toolsUnderWay, [id]: call },
  };
}

export function endTool(transcript: Transcript, id: string, failed: boolean): Transcript {
  const { [id]: call, ...toolsUnderWay } = transcript.toolsUnderWay;
  if (!call || failed) return { ...transcript, toolsUnderWay };
  return {
    ...transcript,
    toolsUnderWay,
    filesRead: withPath(transcript.filesRead, call.reads),
    filesWritten: withPath(transcript.filesWritten, call.writes),
  };
}

export function withPath(paths: readonly string[], path: string | undefined): readonly string[] {
  return path === undefined || paths.includes(path) ? paths : [...paths, path];
}
