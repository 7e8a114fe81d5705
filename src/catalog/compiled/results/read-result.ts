// Writes the output of `read` as a ReadResourceResult.
// https://modelcontextprotocol.io/specification/2026-07-28/server/resources#reading-resources

import type { ResourceOutput } from '../../../platform/author/define-resource.ts'
import { BYTES_TYPE, TEXT_TYPE } from '../../../base/media-types.ts'
import { toBase64 } from '../../../platform/protocol/base64.ts'
import type { Meta, ResourceContents } from '../../../platform/protocol/content.ts'
import type { CacheHints } from '../../../platform/protocol/primitives.ts'
import { checkContents, checkMeta } from './content-checks.ts'
import { hasLargeText, toLargeListJson, toListJson, toResourceJson } from './content-json.ts'
import type { JsonText } from './large-json.ts'
import { ContractError, type ResultWriter } from './result-json.ts'

export interface ReadResultMetadata {
  readonly uri: string
  readonly mimeType: string | undefined
  readonly cache: CacheHints
}

/** Returns `undefined` when the resource does not exist. Throws a ContractError for malformed contents. */
export function readResult (
  writer: ResultWriter, output: ResourceOutput, { uri, mimeType, cache }: ReadResultMetadata
): JsonText | undefined {
  if (output === undefined) return undefined
  const contents = writer.toContents(toContents(output, { uri, mimeType }))
  const meta = readMeta(output)
  const toResult = (json: string) => writer.writeCacheable(`"contents":${json}`, cache, meta)
  return hasLargeText(contents)
    ? toLargeListJson(contents, toResourceJson).within(toResult)
    : toResult(toListJson(contents, toResourceJson))
}

/** Throws a ContractError when the contents are malformed. */
export function toContents (
  output: Exclude<ResourceOutput, undefined>, { uri, mimeType }: Omit<ReadResultMetadata, 'cache'>
): readonly ResourceContents[] {
  // These contents need no check: the URI is valid, and the type was checked when the catalog loaded.
  if (typeof output === 'string') return [{ uri, mimeType: mimeType ?? TEXT_TYPE, text: output }]
  if (output instanceof Uint8Array) {
    return [{ uri, mimeType: mimeType ?? BYTES_TYPE, blob: toBase64(output) }]
  }
  if (typeof output !== 'object' || output === null) {
    throw new ContractError('the output of read', ['must be a string, bytes or contents'])
  }
  if ('contents' in output) return checkContents(output.contents)
  return checkContents('uri' in output ? [output] : output)
}

function readMeta (output: Exclude<ResourceOutput, undefined>): Meta | undefined {
  return typeof output === 'object' && 'contents' in output ? checkMeta(output._meta) : undefined
}
