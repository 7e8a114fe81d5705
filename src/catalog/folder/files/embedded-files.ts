// Plain files that a prompt embeds: where they are, and their content blocks.

import { posix } from 'node:path'
import type { OutputContents } from '../../../platform/author/define-resource.ts'
import { toBase64 } from '../../../platform/protocol/base64.ts'
import type { Annotations, ContentBlock } from '../../../platform/protocol/content.ts'

/** A plain file, as a prompt embeds it. */
export interface EmbeddableFile {
  readonly uri: string
  readonly mimeType: string
  readonly size: number
  /** What a caller needs to read it. */
  readonly scopes: readonly string[]
  readonly annotations: Annotations | undefined
  /** `undefined` if the file is gone. */
  read (): Promise<OutputContents | undefined>
}

export const FILES_FOLDER = 'resources'

/**
 * The path of an embedded file under resources/. Throws a SyntaxError that says what is wrong with the
 * target.
 * @param file the prompt, relative to the catalog folder, with forward slashes.
 */
export function readTarget (target: string, file: string): string {
  if (target.includes('{{')) {
    throw new SyntaxError(`embeds ${target}, but no argument can be a part of a path`)
  }
  let path: string
  try {
    path = decodeURIComponent(target)
  } catch {
    throw new SyntaxError(`${target} has a malformed percent-encoding`)
  }
  const prefix = `${FILES_FOLDER}/`
  const inCatalog = path.startsWith('file:')
    ? path.replace(/^file:\/\/\//, prefix)
    : posix.join(posix.dirname(file), path)
  if (!inCatalog.startsWith(prefix)) {
    throw new SyntaxError(
      `embeds ${target}, which is not under ${prefix}; ` +
      `write a path such as ../${prefix}cover.png, or a URI such as file:///cover.png`
    )
  }
  return inCatalog.slice(prefix.length)
}

/** An image, audio, or any other file as an embedded resource, by its type. */
export async function toContentBlock (file: EmbeddableFile): Promise<ContentBlock> {
  const contents = await file.read()
  if (contents === undefined) throw new Error(`${file.uri} is gone: it was there when the catalog was loaded`)
  const { mimeType, annotations } = file
  const common = annotations === undefined ? {} : { annotations }
  const type = /^(image|audio)\//.exec(mimeType)?.[1]
  if (type === 'image' || type === 'audio') {
    return { type, data: toBase64(bytesOf(contents)), mimeType, ...common }
  }
  const resource = 'text' in contents ? contents : { ...contents, blob: toBase64(bytesOf(contents)) }
  return { type: 'resource', resource, ...common }
}

function bytesOf (contents: OutputContents): Uint8Array {
  if ('text' in contents) return Buffer.from(contents.text)
  return typeof contents.blob === 'string' ? Buffer.from(contents.blob, 'base64') : contents.blob
}
