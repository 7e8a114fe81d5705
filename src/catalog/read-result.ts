// Writes the output of `read` as a ReadResourceResult.
// https://modelcontextprotocol.io/specification/2026-07-28/server/resources#reading-resources

import type { ResourceOutput } from '../authoring/define-resource.ts'
import type { ResourceContents } from '../protocol/content.ts'
import type { CacheHints } from '../protocol/primitives.ts'
import { resourceContentsShape } from './content-shapes.ts'
import { ContractError, type ResultWriter } from './result-json.ts'

export interface ReadResultMetadata {
  readonly uri: string
  readonly mimeType: string | undefined
  readonly cache: CacheHints
}

/** `undefined` when the resource does not exist. Throws a ContractError when the contents are malformed. */
export function readResult (
  writer: ResultWriter, output: ResourceOutput, { uri, mimeType, cache }: ReadResultMetadata
): string | undefined {
  if (output === undefined) return undefined
  const contents = toContents(output, uri, mimeType)
  const verdict = resourceContentsShape(contents)
  if (!verdict.ok) throw new ContractError(`the contents of ${uri} are malformed:`, verdict.problems)
  return writer.writeCacheable(`"contents":${JSON.stringify(writer.toContents(contents))}`, cache)
}

function toContents (
  output: Exclude<ResourceOutput, undefined>, uri: string, mimeType: string | undefined
): readonly ResourceContents[] {
  if (typeof output === 'string') return [{ uri, mimeType: mimeType ?? 'text/plain', text: output }]
  if (output instanceof Uint8Array) {
    const bytes = Buffer.from(output.buffer, output.byteOffset, output.byteLength)
    return [{ uri, mimeType: mimeType ?? 'application/octet-stream', blob: bytes.toString('base64') }]
  }
  if ('contents' in output) return output.contents
  return 'uri' in output ? [output] : output
}
