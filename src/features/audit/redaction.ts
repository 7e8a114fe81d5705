// Replaces what looks like a secret in the values that a log has, and cuts what is too long. The audit log
// keeps arguments. The log of `trivet dev` shows arguments and results.

import { cut } from '../../base/text.ts'

const REDACTED = '[redacted]'
const CUT = '[cut]'
/** In characters of text, of all values of one request. */
const MAX_LENGTH = 8192
const MAX_DEPTH = 16
/** Secrets are looked for in this many characters after the limit too: the cut may be within one. */
const MAX_SECRET_LENGTH = 8192
/** The characters that JSON writes for one at most. */
const MAX_ESCAPE = 6
/** A longer name may hide anything. */
const MAX_NAME_LENGTH = 256

/** Parts of names, in lower case and without separators. */
const SECRET_PART = new RegExp(
  'password|passwd|passphrase|passcode|pwd|secret|token|apikey|accesskey|privatekey|signingkey|' +
  'encryptionkey|masterkey|authori[sz]ation|credential|cookie|session|signature|jwt|bearer|cardnumber|' +
  'securitycode|onetimecode|recoverycode'
)
/** Words that mean a secret only when they stand alone: "pin", but not "opinion". */
const SECRET_WORDS = new Set(['pass', 'pin', 'otp', 'totp', 'mfa', 'auth', 'cvv', 'cvc', 'ssn', 'iban'])
const WORDS = /[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g

/** Each is linear in the length of the text. */
const SECRET_TEXTS = [
  // A handle of any catalog: its prefix, and 128 random bits.
  /\b[a-z][a-z0-9]{0,15}_[\w-]{22}(?![\w-])/g,
  // What the service seals: links to files, request states, session ids. They open without a token.
  /(?<![\w-])[\w-]{8}\.[\w-]{46,}/g,
  // What signs the links of a storage.
  /(?<=[?&](?:x-amz-(?:signature|credential|security-token)|sig|signature|token|access_token|key)=)[^&\s#]+/gi,
  // A JSON Web Token, with what stands before it in its word: only the start of a word is looked at twice.
  /(?<![\w-])(?:(?!\beyJ)[\w-])*\beyJ[\w-]+\.[\w-]+\.[\w-]*/g,
  /\b(?:Bearer|Basic)\s+[\w.~+/=-]{8,}/gi,
  // The user and the password in a URL.
  /(?<=:\/\/)[^\s/?#@]+(?=@)/g,
  /-----BEGIN [^-]+-----[^-]*(?:-----END [^-]+-----)?/g,
  // Keys whose issuers gave them a known beginning.
  /\b(?:sk|pk|rk|ghp|gho|ghs|ghu|github_pat|glpat|xox[a-z])[-_][\w-]{10,}|\bAKIA[A-Z0-9]{16}\b/g
]

const NO_TEXTS: ReadonlySet<string> = new Set()

/**
 * @param secretNames names that the definition's schema marks as secret.
 * @param secretTexts texts that are secrets wherever they are.
 */
export function redact (
  value: unknown, secretNames: ReadonlySet<string>, secretTexts: ReadonlySet<string> = NO_TEXTS
): unknown {
  const patterns = secretTexts.size === 0 ? SECRET_TEXTS : [toPattern(secretTexts), ...SECRET_TEXTS]
  const lengths = [...secretTexts].map(({ length }) => MAX_ESCAPE * length)
  const maxSecretLength = Math.max(MAX_SECRET_LENGTH, ...lengths)
  let left = MAX_LENGTH

  function copyText (text: string): string {
    const harmless = patterns.reduce(
      (clean, secret) => clean.replace(secret, REDACTED), cut(text, left + maxSecretLength)
    )
    const excerpt = harmless.length > left ? `${cut(harmless, left)}${CUT}` : harmless
    left = Math.max(0, left - text.length)
    return excerpt
  }

  function copy (value: unknown, depth: number): unknown {
    if (left === 0) return CUT
    if (typeof value === 'string') return copyText(value)
    left = Math.max(0, left - 1)
    if (typeof value !== 'object' || value === null) {
      return secretTexts.has(String(value)) ? REDACTED : value
    }
    if (depth === MAX_DEPTH) return CUT
    return Array.isArray(value) ? copyList(value, depth) : copyMembers(value, depth)
  }

  function copyList (list: readonly unknown[], depth: number): unknown[] {
    const copied: unknown[] = []
    for (const item of list) {
      copied.push(copy(item, depth + 1))
      if (left === 0) return [...copied, CUT]
    }
    return copied
  }

  function copyMembers (members: object, depth: number): object {
    const copied: Array<readonly [string, unknown]> = []
    // Not their entries: the copy ends long before the last of many members.
    for (const name of Object.keys(members)) {
      const member: unknown = Reflect.get(members, name)
      copied.push([copyText(name), isSecret(name, secretNames) ? REDACTED : copy(member, depth + 1)])
      if (left === 0) return Object.fromEntries([...copied, [CUT, CUT]])
    }
    return Object.fromEntries(copied)
  }

  return copy(value, 0)
}

/** Returns the texts and the numbers of members whose names are those of secrets, at any depth. */
export function secretTextsIn (
  value: unknown, secretNames: ReadonlySet<string>, isWithin = false, depth = 0
): ReadonlySet<string> {
  if (typeof value !== 'object' || value === null) {
    const hasText = typeof value === 'string' || typeof value === 'number'
    return new Set(isWithin && hasText ? [String(value)] : [])
  }
  if (depth === MAX_DEPTH) return NO_TEXTS
  return new Set(Object.entries(value).flatMap(([name, member]) => {
    return [...secretTextsIn(member, secretNames, isWithin || isSecret(name, secretNames), depth + 1)]
  }))
}

/** A longer text comes first: a shorter one may be a part of it. A text may be quoted as JSON. */
function toPattern (texts: ReadonlySet<string>): RegExp {
  const forms = [...texts].flatMap((text) => [text, JSON.stringify(text).slice(1, -1)])
  const longestFirst = forms.filter((form) => form !== '').toSorted((a, b) => b.length - a.length)
  const escaped = longestFirst.map((form) => form.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&'))
  return new RegExp(escaped.length === 0 ? '(?!)' : escaped.join('|'), 'g')
}

function isSecret (name: string, secretNames: ReadonlySet<string>): boolean {
  return secretNames.has(name) || isSecretName(name)
}

function isSecretName (name: string): boolean {
  return name.length > MAX_NAME_LENGTH || SECRET_PART.test(name.toLowerCase().replaceAll(/[^a-z]/g, '')) ||
    (name.match(WORDS) ?? []).some((word) => SECRET_WORDS.has(word.toLowerCase()))
}
