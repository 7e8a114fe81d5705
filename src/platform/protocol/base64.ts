/**
 * Whether the text is base64 with its padding. Takes about a millisecond for 5 MB.
 * https://www.rfc-editor.org/rfc/rfc4648#section-4
 */
export function isBase64 (text: string): boolean {
  // The decoder skips characters that are not base64, ends at padding, and also reads the URL-safe alphabet.
  return text.length % 4 === 0 && !text.includes('-') && !text.includes('_') &&
    Buffer.from(text, 'base64').length === Buffer.byteLength(text, 'base64')
}

export function toBase64 ({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64')
}
