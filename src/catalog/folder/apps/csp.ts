// The origins that app.yaml lists, and which URLs they cover.
// https://www.w3.org/TR/CSP3/#match-url-to-source-expression

const HOST = String.raw`(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::\d{1,5})?`
const ORIGIN = new RegExp(`^(?:https?|wss?)://${HOST}$`, 'i')

/** Without a path and without characters that would end the directive that a host makes of it. */
export function isOrigin (text: string): boolean {
  return ORIGIN.test(text) && URL.canParse(text.replace('*.', ''))
}

export function isListedOrigin (url: URL, origins: readonly string[]): boolean {
  return origins.some((origin) => {
    const listed = new URL(origin.replace('*.', ''))
    if (listed.protocol !== url.protocol) return false
    return origin.includes('*.') ? url.host.endsWith(`.${listed.host}`) : url.host === listed.host
  })
}
