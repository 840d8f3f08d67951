// Parsing, validation and errors of one line of an import.
import { DomainError } from '@paylog/domain/errors'
import t from 'tap'
import { mug } from '../testing/importHarness.ts'
import { reasonOf, rejectionJson } from './import.ts'
import { maxLineBytes, readProductLine } from './productLine.ts'

const id = '0198f2a0-5b1e-7c3d-8e4f-a1b2c3d4e5f6'
const read = (line: unknown) => readProductLine(Buffer.from(typeof line === 'string' ? line : JSON.stringify(line)))
const completed = {
  name: 'Mug',
  description: null,
  product_type: 'physical',
  is_recurring: false,
  subtotal_cents: 1250,
  tax_cents: 0,
  discount_cents: 0,
  total_cents: 1250,
  currency: 'EUR',
  billing_interval: null,
  trial_days: null,
  category_id: null,
}

function errorOf(line: unknown): DomainError {
  try {
    if (line === null || Buffer.isBuffer(line)) readProductLine(line)
    else read(line)
  } catch (error) {
    if (error instanceof DomainError) return error
    throw error
  }
  throw new Error(`accepted: ${JSON.stringify(line)}`)
}

const reason = (line: unknown) => reasonOf(errorOf(line))

t.test('a line contains a whole product', async (t) => {
  t.same(read({ ...mug, id: id.toUpperCase(), created_at: 'as shown', updated_at: null }), {
    product_id: id,
    is_named: true,
    content: completed,
    is_active: undefined,
  })
  const all = {
    name: 'Backup',
    description: 'Every night',
    product_type: 'subscription',
    is_recurring: true,
    subtotal_cents: 1000,
    tax_cents: 190,
    discount_cents: 90,
    total_cents: 1100,
    currency: 'usd',
    billing_interval: 'month',
    trial_days: 14,
    category_id: 'storage',
  }
  t.same(read({ ...all, id, is_active: false }), {
    product_id: id,
    is_named: true,
    content: { ...all, currency: 'USD' },
    is_active: false,
  })
})

t.test('a product without an id gets a stable id derived from its content', async (t) => {
  const derived = 'cb848238-a2aa-5076-9568-de2d4e876ff8'
  t.match(read(mug), { product_id: derived, is_named: false, content: completed })
  const same = [
    { ...mug, currency: 'eur', total_cents: undefined, subtotal_cents: 1250, created_at: 1 },
    { total_cents: 1250.0, currency: 'EUR', description: null, product_type: 'physical', name: 'Mug', tax_cents: 0 },
    { ...mug, is_active: false },
    { ...mug, id: null },
    '  {"name":"M\\u0075g","product_type":"physical","currency":"EUR","total_cents":1.25e3}\t',
  ]
  for (const line of same) t.equal(read(line)?.product_id, derived)
  for (const other of [{ name: 'mug' }, { total_cents: 1251 }, { category_id: 'cups' }, { tax_cents: 1 }])
    t.not(read({ ...mug, ...other })?.product_id, derived)
})

t.test('an empty line is not a product', async (t) => {
  for (const line of ['', ' ', '\t \t', '\r']) t.equal(read(line), null)
  t.match(errorOf('\u00a0'), { code: 'invalid_request' })
})

t.test('every kind of invalid line has a one-line error', async (t) => {
  const wrong: readonly (readonly [unknown, string])[] = [
    [{}, 'name is required; product_type is required; currency is required'],
    [{ ...mug, name: '' }, 'name must not have fewer than 1 characters'],
    [{ ...mug, name: ' ' }, 'name is required'],
    [{ ...mug, name: 1, is_active: 'true' }, 'name must be string; is_active must be boolean'],
    [{ ...mug, product_type: 'toy' }, 'product_type must be "physical" or "digital" or "service" or "subscription"'],
    [{ ...mug, currency: 'Euro' }, 'currency must match pattern "^[A-Za-z]{3}$"'],
    [{ ...mug, currency: 'XXX' }, 'currency is not an ISO 4217 currency code'],
    [{ ...mug, total_cents: 12.5 }, 'total_cents must be integer or null'],
    [{ ...mug, total_cents: -1 }, 'total_cents must be >= 0 or null'],
    [{ ...mug, total_cents: null }, 'total_cents is required without subtotal_cents'],
    [{ ...mug, tax_cents: 5, subtotal_cents: 6 }, 'total_cents must equal subtotal_cents + tax_cents - discount_cents'],
    [{ ...mug, is_recurring: true }, 'billing_interval is required when is_recurring'],
    [
      { ...mug, billing_interval: 'week', trial_days: 1 },
      'billing_interval is allowed only when is_recurring; trial_days is allowed only when is_recurring',
    ],
    [{ ...mug, taxCents: 5 }, 'taxCents is unknown here; did you mean `tax_cents`?'],
    [{ ...mug, id: 'mug-1' }, 'id must be a UUID or null'],
    [{ ...mug, id: `urn:uuid:${id}` }, 'id must be a UUID or null'],
    [[mug], 'The line is not a JSON object'],
    ['null', 'The line is not a JSON object'],
    ['{"name":"Mug"', 'The line is not valid JSON'],
    [`${JSON.stringify(mug)}${JSON.stringify(mug)}`, 'The line is not valid JSON'],
    ['\ufeff{}', 'The line is not valid JSON'],
    ['{"name":"a","name":"b"}', 'The line contains a duplicate key'],
    ['{"name":"\\u0000"}', 'Text in the line contains a NUL character'],
    ['{"total_cents":9007199254740993}', 'The line contains an integer that is too large to be stored exactly'],
    [`{"a":${'['.repeat(40)}${']'.repeat(40)}}`, 'The line is nested deeper than 32 levels'],
    [Buffer.from('{"name":"Caf\u00e9"}', 'latin1'), 'The line is not valid UTF-8'],
    [null, `The line is longer than ${maxLineBytes} bytes`],
  ]
  for (const [line, expected] of wrong) t.equal(reason(line), expected)
})

t.test('no rejection repeats content of the line', async (t) => {
  const secret = 'hush-hush'
  const values = [secret, [secret], { [secret]: secret }]
  const lines: unknown[] = Object.keys({ ...completed, id, is_active: true }).flatMap((field) =>
    values.map((value) => ({ ...mug, trial_days: 1, [field]: value })),
  )
  lines.push(`{"${secret}":1,"${secret}":2}`, `{"${secret}`, `"${secret}"`, `["${secret}"]`)
  for (const line of lines) {
    t.notMatch(JSON.stringify(rejectionJson(1, errorOf(line))), secret)
  }
})
