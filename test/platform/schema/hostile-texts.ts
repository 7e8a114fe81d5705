// Texts that make patterns of formats try many ways to match. Each is written at any length.

const repeat = (part: string, before = '', after = '') => (length: number) =>
  before + part.repeat(Math.floor((length - before.length - after.length) / part.length)) + after

export const HOSTILE_TEXTS: ReadonlyArray<(length: number) => string> = [
  repeat('a'), repeat('1'), repeat('a-'), repeat('a.'), repeat('/'), repeat('~1', '/'), repeat('('),
  repeat('()'), repeat('|'), repeat('t'), repeat('\n'), repeat('é'), repeat('😀'), repeat('{a}'),
  repeat('a,', '{'), repeat('1:'), repeat('AAAA', '', '!'), repeat('AAAA\n', '', '!'), repeat('\\1'),
  repeat('(?<a>)'), repeat('[a'), repeat('a{1}'), repeat('a', 'a@', '!'), repeat('a-', 'a@', '!'),
  repeat('a.', 'a@', '!'), repeat('a.', '', '@'), repeat('a', 'http://', ' '), repeat('a-', 'http://'),
  repeat('a.', 'http://', ' '), repeat(':', 'http://'), repeat('a:', 'http://'), repeat('@', 'http://'),
  repeat('a@', 'http://', ' '), repeat('a@a.aa/', 'http://', ' '), repeat('a.aa/:', 'http://', '!'),
  repeat('%41', 'a:', ' '), repeat('?', 'a://a', ' '), repeat('[::1]', 'a://'), repeat('1', 'P'),
  repeat('1', 'P1Y1M1DT', '!'), repeat('1', '10:10:10.', '!'), repeat('1', '2020-01-01T10:10:10.', '!'),
  repeat('::', ''), repeat('a', '#/', ' '), repeat('/', '0', '~')
]
