// Prefixes and regular expressions: their matches and their time limits.
import fc from 'fast-check'
import t from 'tap'
import { CallError } from '../protocol/callError.ts'
import { patternTest, prefixTest } from './textTest.ts'

const longName = `${'a'.repeat(2_000)}!`
/** Generous for a busy machine: the cases to detect take minutes. */
const maxTestMs = 2_000

t.test('prefixTest matches text that starts with any of the prefixes', async () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '-', 'é', '\u{1f600}'), maxLength: 4 })
  fc.assert(
    fc.property(fc.array(text, { maxLength: 6 }), text, (prefixes, name) => {
      return prefixTest(prefixes)(name) === prefixes.some((prefix) => name.startsWith(prefix))
    }),
    { seed: 1, numRuns: 3_000 },
  )
})

t.test('prefixTest with 100,000 prefixes is as fast as with a few', async (t) => {
  const test = prefixTest(Array.from({ length: 100_000 }, (_, index) => `stream-${index}-`))
  const startedAt = performance.now()
  for (let count = 0; count < 10_000; count += 1) test(`stream-${count * 20}-x`)
  t.ok(performance.now() - startedAt < maxTestMs)
  t.ok(test('stream-99999-x'))
  t.notOk(test('stream-100000-x'))
})

t.test('patternTest matches like a normal regular expression', async () => {
  const part = fc.constantFrom(
    'a',
    'b',
    '.',
    '[ab]',
    '[^a]',
    '\\w',
    '(a|b)',
    '(?:ab)',
    'a?',
    'b*',
    'a+?',
    'a{2}',
    '^',
    '$',
  )
  const pattern = fc.array(part, { minLength: 1, maxLength: 5 }).map((parts) => parts.join(''))
  const name = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '-'), maxLength: 6 })
  fc.assert(
    fc.property(pattern, name, (source, text) => patternTest(source)(text) === new RegExp(source).test(text)),
    { seed: 1, numRuns: 3_000 },
  )
})

t.test('patternTest supports lookaheads, backreferences and large repetitions', async (t) => {
  t.notOk(patternTest('^(?!\\$)')('$system'))
  t.ok(patternTest('^(?!\\$)')('order'))
  t.ok(patternTest('^(.)\\1')('aab'))
  t.ok(patternTest('^[0-9a-f]{32}$')('0'.repeat(32)))
})

t.test('patternTest is fast for patterns that backtrack exponentially elsewhere', async (t) => {
  for (const source of [
    '^(a+)+$',
    '^(a|a)*$',
    '(.*)(.*)(.*)(.*)(.*)x',
    '(?:a?){16}a{16}b',
    `${'a?'.repeat(200)}${'a'.repeat(200)}b`,
  ]) {
    const startedAt = performance.now()
    t.notOk(patternTest(source)(longName), source.slice(0, 30))
    t.ok(performance.now() - startedAt < maxTestMs, source.slice(0, 30))
  }
})

t.test('patternTest rejects patterns that cannot be searched in bounded time', async (t) => {
  const startedAt = performance.now()
  t.throws(() => patternTest('^(?=(a+)+$)')(longName), CallError)
  t.throws(() => patternTest('^(a{0,1000}){0,1000}$')(longName), CallError)
  t.throws(() => patternTest(`(?=a)${'a?'.repeat(100)}${'a'.repeat(100)}b`), CallError)
  t.throws(() => patternTest('a'.repeat(1_000_000)), CallError)
  t.throws(() => patternTest('('), CallError)
  t.ok(performance.now() - startedAt < maxTestMs)
})
