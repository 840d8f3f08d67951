import fc from 'fast-check'
import t from 'tap'
import { findCardData, hasCardNumber } from './cardNumber.ts'

const cards = [
  '4242424242424242',
  '4000056655665556',
  '5555555555554444',
  '378282246310005',
  '6011111111111117',
  '4222222222222',
  '6304000000000000000',
]

t.test('card numbers are found anywhere in a text, with and without separators [10.1-card-number]', async (t) => {
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

t.test('numbers that only look like card numbers are not found [10.1-card-lookalike]', async (t) => {
  for (const text of [
    '4242424242424241',
    '1234567812345670',
    '42424242424242424242424',
    '40000000000000000002',
    '94242424242424242',
    '018f4242-4242-4242-8242-424242424242',
    '2026-11-21 10:00',
    'INV-2026-000123',
  ])
    t.notOk(hasCardNumber(text), text)
})

const inFours = (card: string, separator: string) => card.replace(/(\d{4})(?=\d)/g, `$1${separator}`)
const inDigitsFrom = (zero: number) => (text: string) =>
  text.replace(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)))

t.test(
  'card numbers are found with dots, tabs, several separators and every kind of dash and space [10.1-card-separators]',
  async (t) => {
    const separators = [
      '.',
      ' . ',
      '\t',
      '  ',
      '   ',
      ' - ',
      '\u2013',
      '\u2212',
      '\uff0d',
      '\u00a0',
      '\u2009',
      '\u3000',
      '\u00b7',
    ]
    for (const card of cards)
      for (const separator of separators) {
        t.ok(hasCardNumber(`card ${inFours(card, separator)} 12/27`), JSON.stringify(inFours(card, separator)))
        t.ok(hasCardNumber(`7${separator}${inFours(card, separator)}`), 'after another number')
      }
    for (const text of [
      '3782.822463.10005',
      '3782  822463\t10005',
      '3056.930902.5904',
      '4242 4242.4242-4242',
      '4 2 4 2 '.repeat(4),
    ])
      t.ok(hasCardNumber(text), text)
    t.notOk(hasCardNumber(inFours('4242424242424242', '    ')), 'four separators are too many')
  },
)

t.test(
  'card numbers are found in the digits of every script, and with invisible characters in between [10.1-card-digits]',
  async (t) => {
    const [card = ''] = cards
    for (const zero of [0xff10, 0x0660, 0x0966, 0x1d7ce, 0x1d7f6, 0x1fbf0])
      t.ok(hasCardNumber(inFours(inDigitsFrom(zero)(card), ' ')), zero.toString(16))
    for (const invisible of ['\u200b', '\u200d', '\u2060', '\ufeff', '\u00ad', '\u200e'])
      t.ok(hasCardNumber([...card].join(invisible)), encodeURIComponent(invisible))
    t.ok(hasCardNumber(`42${inDigitsFrom(0xff10)(card.slice(2))}`), 'a mixture')
    t.notOk(hasCardNumber(inDigitsFrom(0xff10)('4242424242424241')))
  },
)

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index)
const twoDigits = (number: number) => String(number).padStart(2, '0')

/** Each is written with 100 different digit pairs, some of which pass the Luhn check. */
const naturalTexts: Readonly<Record<string, (number: string) => string>> = {
  'IP addresses': (n) => `10.0.0.${n} 192.168.1.${n} and 52.48.213.${n} 203.113.114.201`,
  'a period': (n) => `2026-11-01 2026-11-30, 2026-${n}-01 - 2026-12-31, 2026.11.01 2026.12.${n}`,
  times: (n) => `21.11.2026 10.15.${n}  22.11.2026 11.45.30`,
  'an exact time': (n) => `2026-11-21 10:15:30.1234${n}`,
  prices: (n) => `12.50 13.${n} 14.75 15.00 16.10 17.20`,
  'an amount with dots': (n) => `4.242.424.242.4${n}`,
  versions: (n) => `2.4.13 2.4.${n} 3.10.2 3.11.0 4.0.0-1 5.2.1`,
  'phone numbers': (n) => `612 345 6${n}  698.765.432 / 06 12 34 56 ${n}`,
  'a column of order numbers': (n) => `4401${n}\t440124\t440125`,
  'lines of years': (n) => `2019\n2020\n2021\n20${n}`,
  'a UUID': (n) => `018f4242-4242-4242-8242-4242424242${n}`,
  'a time in milliseconds': (n) => `17637${n}123456`,
}

t.test('dates, prices, versions and phone numbers with any digits are not found as card numbers', async (t) => {
  for (const [name, write] of Object.entries(naturalTexts))
    t.same(
      upTo(100)
        .map((number) => write(twoDigits(number)))
        .filter(hasCardNumber),
      [],
      name,
    )
})

const cardMessage = 'must not hold a card number'

t.test(
  'card numbers are found in keys, numbers and nested values, and the message has no value [10.1-card-keys]',
  async (t) => {
    t.same(findCardData({ a: [{}, { b: { c: 'x 4242424242424242' } }] }), { field: 'a.1.b.c', message: cardMessage })
    t.same(findCardData({ dropped: 4242424242424242 }), { field: 'dropped', message: cardMessage })
    for (const value of [{ 4242424242424242: true }, { 'nr 4242 4242 4242 4242': '4242424242424242' }])
      t.same(findCardData({ metadata: value }), {
        field: 'metadata',
        message: 'must not have a key that holds a card number',
      })
    t.equal(findCardData({ total_cents: 2599, currency: 'EUR', concept: null, latitude: 0.4242424242424242 }), null)
  },
)

t.test(
  'a phone field is searched for a card number unless it is an international number [10.1-card-phone]',
  async (t) => {
    const isFound = (phone: unknown) => findCardData({ guest_data: { phone } })?.field === 'guest_data.phone'
    for (const phone of [
      '4242424242424242',
      4242424242424242,
      '+4242424242424242',
      '+4111 1111 1111 1111',
      '+5555.5555.5555.4444',
      '+1 4242 4242 4242 4242',
      '+1 and 4242424242424242',
      '+3782 822463 10005',
      '+30569309025904',
    ])
      t.ok(isFound(phone), String(phone))
    for (const phone of [
      '+4222222222222',
      '+43 (4222) 222-222.20',
      '+55 11 91234-5678',
      '+6304000000000',
      '+49 30 000000',
    ])
      t.notOk(isFound(phone), phone)
  },
)

t.test('a card security code is found by its key at any depth [10.1-security-code]', async (t) => {
  for (const key of [
    'cvv',
    'CVC',
    'cvv2',
    'cvc2',
    'csc',
    'security_code',
    'Security-Code',
    'card_code',
    'card[cvc]',
    'cardCvv',
  ])
    for (const value of ['123', ' 1234 ', 123, '\uff11\uff12\uff13'])
      t.same(
        findCardData({ metadata: { list: [{ [key]: value }] } }),
        { field: `metadata.list.0.${key}`, message: 'must not hold the security code of a card' },
        `${key}: ${value}`,
      )
  for (const value of [
    { cvv: 'provided' },
    { cvv: true },
    { cvc_check: '123' },
    { code: '123' },
    { cvv: '12' },
    { cvv: '12345' },
  ])
    t.equal(findCardData(value), null, JSON.stringify(value))
})

t.test('a card number is found between any random text without digits', async (t) => {
  const noise = fc.string().map((text) => text.replace(/[\d]/g, ''))
  fc.assert(
    fc.property(fc.constantFrom(...cards), noise, noise, (card, before, after) =>
      hasCardNumber(`${before}${card}${after}`),
    ),
    { numRuns: 2000 },
  )
  t.pass('2,000 random texts')
})

t.test('searching a body of 256 KiB takes less than 200 ms of CPU', async (t) => {
  for (const part of ['1 ', '5-', '4  2  7  ', '4', '\uff15 ', '00000000-0000-']) {
    const text = part.repeat((256 * 1024) / Buffer.byteLength(part))
    const before = process.cpuUsage()
    t.equal(hasCardNumber(text), false)
    // About ten times the usual time.
    t.ok(process.cpuUsage(before).user < 200_000, JSON.stringify(part))
  }
})
