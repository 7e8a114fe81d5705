// The types of files in words that people read.

import mime from 'mime'

/** The first parts of types. */
const KINDS: { readonly [type: string]: string } = {
  image: 'pictures', audio: 'sound', video: 'videos', text: 'text files', font: 'fonts'
}

/** Types whose extension people do not know them by. */
const NAMES: { readonly [type: string]: string } = {
  'text/plain': 'plain text',
  'text/html': 'web pages',
  'image/jpeg': 'JPEG pictures',
  'image/svg+xml': 'SVG pictures',
  'application/octet-stream': 'any file',
  'application/msword': 'Word documents',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'Word documents',
  'application/vnd.ms-excel': 'Excel workbooks',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'Excel workbooks',
  'application/vnd.ms-powerpoint': 'PowerPoint presentations',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': 'PowerPoint presentations'
}

/** @param accept types and extensions, as the attribute `accept` of HTML has them. Not empty. */
export function describeTypes (accept: readonly string[]): string {
  const words = [...new Set(accept.map((type) => describeType(type.toLowerCase())))]
  const last = words.at(-1) ?? ''
  const text = words.length < 2 ? last : `${words.slice(0, -1).join(', ')} or ${last}`
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function describeType (type: string): string {
  if (type.startsWith('.')) return `${type.slice(1).toUpperCase()} files`
  const [kind = '', subtype] = type.split('/')
  if (subtype === '*') return KINDS[kind] ?? `files of the kind ${kind}`
  const [name, extension] = [NAMES[type], mime.getExtension(type)]
  if (name !== undefined) return name
  return extension === null ? `files of the type ${type}` : `${extension.toUpperCase()} files`
}
