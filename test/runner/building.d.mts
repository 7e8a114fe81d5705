export function buildIfStale (project?: string): void
