// Texts as programs make them: also with halves of surrogate pairs, and with what looks like an escape.

import fc from 'fast-check'

const PIECES = [
  '\ud83d', '\ude00', '\ud800', '\udfff', '\udbff\udbff', '😀', '👩‍💻',
  '\\', '\\ud800', '\\\\ud83d', '"', '\n', 'é',
  '日本', 'a', ' ', '\u2028', '\ufffd'
]

export function anyText (lengths: { readonly maxLength?: number } = {}): fc.Arbitrary<string> {
  const unit = fc.oneof(
    fc.constantFrom(...PIECES),
    fc.oneof(fc.integer({ min: 0xd800, max: 0xdfff }), fc.nat(0xffff)).map(
      (code) => String.fromCharCode(code)
    )
  )
  return fc.array(unit, { maxLength: 20, ...lengths }).map((units) => units.join(''))
}
