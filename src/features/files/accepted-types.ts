// The types of files that an upload accepts, as the attribute `accept` of HTML has them.
// https://html.spec.whatwg.org/multipage/input.html#attr-input-accept

import { BYTES_TYPE, isMediaType, mediaTypeOfName } from '../../base/media-types.ts'

const ACCEPTED = /^(?:\.[\w+-]{1,20}|[\w+.-]{1,60}\/(?:\*|[\w+.-]{1,60}))$/

export function isAccepted (value: unknown): boolean {
  return typeof value === 'string' && ACCEPTED.test(value)
}

/** Whether a header may have the type. */
export function isHeaderType (value: unknown): boolean {
  return typeof value === 'string' && isMediaType(value) && /^[ -~]{1,200}$/.test(value)
}

/**
 * Returns the type of an uploaded file. `undefined` if the file is not accepted. The type that a browser
 * declares depends on the programs of its machine, so the type of the extension counts too.
 */
export function acceptedType (
  accept: readonly string[], { name, mimeType }: { readonly name: string, readonly mimeType: string }
): string | undefined {
  const declared = isHeaderType(mimeType) ? mimeType.toLowerCase() : BYTES_TYPE
  const ofName = mediaTypeOfName(name) ?? BYTES_TYPE
  // A browser that knows no type declares the general one, so the name comes first then.
  const types = declared === BYTES_TYPE ? [ofName, declared] : [declared, ofName]
  if (accept.length === 0) return types[0]
  const matches = (type: string) => accept.some((form) => {
    const pattern = form.toLowerCase()
    return pattern.endsWith('/*') ? type.startsWith(pattern.slice(0, -1)) : type.split(';')[0] === pattern
  })
  const lowerName = name.toLowerCase()
  const isNamed = accept.some((form) => form.startsWith('.') && lowerName.endsWith(form.toLowerCase()))
  return types.find(matches) ?? (isNamed ? ofName : undefined)
}
