import fc from 'fast-check'
import t from 'tap'
import { hasCardNumber, holdsCardNumber } from './cardNumber.ts'

const cards = [
  '4242424242424242',
  '4000056655665556',
  '5555555555554444',
  '378282246310005',
  '6011111111111117',
  '4222222222222',
  '6304000000000000000',
]

t.test('card numbers are found, with and without separators, anywhere in a text', async (t) => {
  for (const card of cards) {
    const dashed = card.replace(/(\d{4})(?=\d)/g, '$1-')
    for (const text of [
      card,
      `card ${card}.`,
      `exp ${card} 12/27`,
      `7 ${card} 5`,
      dashed,
      dashed.replaceAll('-', ' '),
      `nr:${card},`,
    ])
      t.ok(hasCardNumber(text), text)
  }
})

t.test('what only looks like one is left alone', async (t) => {
  for (const text of [
    '4242424242424241',
    '1234567812345670',
    '42424242424242424242424',
    '40000000000000000002',
    '94242424242424242',
    '4242  4242  4242  4242',
    '018f4242-4242-4242-8242-424242424242',
    '2026-11-21 10:00',
    'INV-2026-000123',
  ])
    t.notOk(hasCardNumber(text), text)
})

t.test('keys, numbers and nested values are searched; an international phone number is exempt', async (t) => {
  t.ok(holdsCardNumber({ a: [{ b: { c: 'x 4242424242424242' } }] }))
  t.ok(holdsCardNumber({ 4242424242424242: true }))
  t.ok(holdsCardNumber({ dropped: 4242424242424242 }))
  t.ok(holdsCardNumber({ phone: '4242424242424242' }))
  t.ok(holdsCardNumber({ phone: '+1 and 4242424242424242' }))
  t.notOk(holdsCardNumber({ phone: '+4222222222222' }))
  t.notOk(holdsCardNumber({ total_cents: 2599, currency: 'EUR', concept: null }))
})

t.test('no text around a card number hides it', async (t) => {
  const noise = fc.string().map((text) => text.replace(/[\d]/g, ''))
  fc.assert(
    fc.property(fc.constantFrom(...cards), noise, noise, (card, before, after) =>
      holdsCardNumber({ note: `${before}${card}${after}` }),
    ),
    { numRuns: 2000 },
  )
  t.pass('2,000 surroundings')
})

t.test('the longest body is searched in no time, whatever it holds', async (t) => {
  const begun = performance.now()
  t.equal(hasCardNumber('1 '.repeat(128 * 1024)), false)
  // Twenty times what it takes; were each group compared with all the others it would be most of a minute.
  t.ok(performance.now() - begun < 2_000)
})
