// Media types: the MIME types of contents. https://www.rfc-editor.org/rfc/rfc9110#media.type

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"

/** A type, a subtype and parameters, such as `text/html; charset=utf-8`. */
export const MEDIA_TYPE = `^${TOKEN}/${TOKEN}(?:[ \\t]*;[ \\t]*${TOKEN}=(?:${TOKEN}|"[^"\\\\]*"))*$`

const pattern = new RegExp(MEDIA_TYPE)

export function isMediaType (text: string): boolean {
  return pattern.test(text)
}

/** The types of contents whose author names none. */
export const TEXT_TYPE = 'text/plain'
export const BYTES_TYPE = 'application/octet-stream'

/** https://modelcontextprotocol.io/specification/2026-07-28/server/resources#common-uri-schemes */
export const DIRECTORY_TYPE = 'inode/directory'
