// Replaces what looks like a secret in the arguments that the audit log keeps, and cuts what is too long.

const REDACTED = '[redacted]'
const CUT = '[cut]'
/** In characters of text, of all values of one request. */
const MAX_LENGTH = 8192
const MAX_DEPTH = 16
/** Secrets are looked for in this many characters after the limit too: the cut may be within one. */
const MAX_SECRET_LENGTH = 8192
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
  // A JSON Web Token.
  /\beyJ[\w-]+\.[\w-]+\.[\w-]*/g,
  /\b(?:Bearer|Basic)\s+[\w.~+/=-]{8,}/gi,
  // The user and the password in a URL.
  /(?<=:\/\/)[^\s/?#@]+(?=@)/g,
  /-----BEGIN [^-]+-----[^-]*(?:-----END [^-]+-----)?/g,
  // Keys whose issuers gave them a known beginning.
  /\b(?:sk|pk|rk|ghp|gho|ghs|ghu|github_pat|glpat|xox[a-z])[-_][\w-]{10,}|\bAKIA[A-Z0-9]{16}\b/g
]

/** @param secretNames names that the definition's schema marks as secret. */
export function redact (value: unknown, secretNames: ReadonlySet<string>): unknown {
  let left = MAX_LENGTH

  function copyText (text: string): string {
    const harmless = SECRET_TEXTS.reduce(
      (clean, secret) => clean.replace(secret, REDACTED), text.slice(0, left + MAX_SECRET_LENGTH)
    )
    const excerpt = harmless.length > left ? `${harmless.slice(0, left)}${CUT}` : harmless
    left = Math.max(0, left - text.length)
    return excerpt
  }

  function copy (value: unknown, depth: number): unknown {
    if (left === 0) return CUT
    if (typeof value === 'string') return copyText(value)
    left = Math.max(0, left - 1)
    if (typeof value !== 'object' || value === null) return value
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
    for (const [name, member] of Object.entries(members)) {
      const isSecret = secretNames.has(name) || isSecretName(name)
      copied.push([copyText(name), isSecret ? REDACTED : copy(member, depth + 1)])
      if (left === 0) return Object.fromEntries([...copied, [CUT, CUT]])
    }
    return Object.fromEntries(copied)
  }

  return copy(value, 0)
}

function isSecretName (name: string): boolean {
  return name.length > MAX_NAME_LENGTH || SECRET_PART.test(name.toLowerCase().replaceAll(/[^a-z]/g, '')) ||
    (name.match(WORDS) ?? []).some((word) => SECRET_WORDS.has(word.toLowerCase()))
}
