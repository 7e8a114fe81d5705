// The names of clients, as people see them.

import t from 'tap'
import { findUnusual, toVisible } from '../../../src/edges/sign-in/names.ts'

t.test('a name of usual letters stays as it is', (t) => {
  for (const name of ['Claude', 'Visual Studio Code', 'Éditeur für Øystein Ž', 'A-b (c) 1.2']) {
    t.equal(toVisible(name), name)
    t.strictSame(findUnusual(name), [])
  }
  t.end()
})

t.test('what cannot be seen is written by its code', (t) => {
  t.equal(toVisible('Cl\u200baude'), 'Cl[U+200B]aude')
  t.equal(toVisible('\u202eedualC'), '[U+202E]edualC', 'a change of direction')
  t.equal(toVisible('a\u3164b\u2800c\u00a0d\u{e0041}'), 'a[U+3164]b[U+2800]c[U+00A0]d[U+E0041]')
  t.equal(toVisible('a\nb\u0000'), 'a[U+000A]b[U+0000]')
  t.equal(toVisible('\ud800'), '[U+D800]', 'a half of a pair')
  t.end()
})

t.test('letters that look like others are named', (t) => {
  t.strictSame(findUnusual('Сlaude'), ['С (U+0421)'], 'one Cyrillic letter')
  t.strictSame(findUnusual('аррӏе'), ['а (U+0430)', 'р (U+0440)', 'ӏ (U+04CF)', 'е (U+0435)'], 'all of them')
  t.strictSame(findUnusual('ｃlıent ℂ ⅽ'), ['ｃ (U+FF43)', 'ı (U+0131)', 'ℂ (U+2102)', 'ⅽ (U+217D)'])
  t.strictSame(findUnusual('Claude 🙂 – “x”'), [], 'signs are no letters')
  t.equal(findUnusual('абвгдежзик').length, 8)
  t.end()
})

t.test('a name covers nothing around it', (t) => {
  t.equal(toVisible(`a${'\u0315'.repeat(500)}b`).length, 4)
  t.ok(toVisible('x'.repeat(10_000)).length <= 61)
  const start = process.cpuUsage()
  findUnusual('а\u0315\u200b'.repeat(700_000))
  t.ok(process.cpuUsage(start).user < 3_000_000, 'also the largest')
  t.end()
})
