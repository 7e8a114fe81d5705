// A request as a command that a terminal runs.

import type { SentRequest } from './request.ts'

/** Writes a complete command for a POSIX shell. `-N` shows the events of a stream as they come. */
export function toCurl ({ url, headers, message }: SentRequest): string {
  const lines = [
    `curl -sS -N ${quoteForShell(url)}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoteForShell(`${name}: ${value}`)}`),
    `--data-raw ${quoteForShell(JSON.stringify(message))}`
  ]
  return lines.join(' \\\n  ')
}

/** In single quotes a POSIX shell changes nothing. */
function quoteForShell (text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
