import t, { type Test } from 'tap'
import { DomainError } from '../errors.ts'
import { maxAmountCents } from '../money.ts'
import { changedContent, type NewProduct, newContent, type ProductChanges } from './content.ts'
import type { ProductContent } from './events.ts'

const mug: NewProduct = { name: 'Sample mug', product_type: 'physical', currency: 'EUR', total_cents: 1490 }
const plan: NewProduct = {
  ...mug,
  product_type: 'subscription',
  is_recurring: true,
  billing_interval: 'month',
  trial_days: 14,
}
/** With tax and discount: 1000 + 190 - 90. */
const taxed = newContent({ ...mug, subtotal_cents: 1000, tax_cents: 190, discount_cents: 90, total_cents: 1100 })
const recurring = newContent(plan)

const amountsOf = ({ subtotal_cents, tax_cents, discount_cents, total_cents }: ProductContent) => [
  subtotal_cents,
  tax_cents,
  discount_cents,
  total_cents,
]
const ofTaxed = (changes: ProductChanges) => amountsOf(changedContent(taxed, changes))

/** Expects invalid_request for exactly these fields. */
function isInvalid(t: Test, act: () => unknown, invalid: Readonly<Record<string, string>>): void {
  const fields = Object.entries(invalid).map(([field, message]) => ({ field, message }))
  const message = fields.map(({ field, message }) => `${field} ${message}`).join('; ')
  const errors: unknown[] = []
  try {
    act()
  } catch (error) {
    errors.push(error)
  }
  t.match(errors, [{ name: 'DomainError', code: 'invalid_request' }])
  t.same(
    errors.map((error) => error instanceof DomainError && [error.details, error.message]),
    [[{ fields }, message]],
  )
}

t.test('omitted fields of a new product get null, zero or false', async (t) => {
  const nothing = { description: null, billing_interval: null, trial_days: null, category_id: null }
  const complete = {
    ...mug,
    ...nothing,
    is_recurring: false,
    subtotal_cents: 1490,
    tax_cents: 0,
    discount_cents: 0,
  }
  t.strictSame(newContent(mug), complete)
  t.strictSame(
    newContent({ ...mug, ...nothing, subtotal_cents: null, tax_cents: null, discount_cents: null }),
    complete,
  )
})

t.test('the fields of a new product are stored unchanged, except for the case of the currency', async (t) => {
  const fields = {
    name: ' Sample ',
    description: '',
    product_type: 'service',
    is_recurring: true,
    subtotal_cents: 1000,
    tax_cents: 190,
    discount_cents: 90,
    total_cents: 1100,
    currency: 'eUr',
    billing_interval: 'year',
    trial_days: 0,
    category_id: 'office',
  } as const
  t.strictSame(newContent({ ...fields, is_active: false }), { ...fields, currency: 'EUR' })
})

const only = 'is allowed only when is_recurring'
const currency = 'is not an ISO 4217 currency code'
const once = { is_recurring: false, billing_interval: null }
const broken: readonly [string, ProductChanges, Readonly<Record<string, string>>][] = [
  ['a blank name', { name: ' \t\u00a0' }, { name: 'is required' }],
  ['an unknown currency', { currency: 'abc' }, { currency }],
  ['a metal as currency', { currency: 'XAU' }, { currency }],
  [
    'no interval',
    { is_recurring: true, billing_interval: null },
    { billing_interval: 'is required when is_recurring' },
  ],
  ['an interval once', { is_recurring: false, billing_interval: 'day' }, { billing_interval: only }],
  ['a trial once', { ...once, trial_days: 1 }, { trial_days: only }],
  ['no amount', { subtotal_cents: null, total_cents: null }, { total_cents: 'is required without subtotal_cents' }],
  [
    'several errors',
    { name: ' ', currency: 'abc', is_recurring: false, billing_interval: 'day', trial_days: 1 },
    { name: 'is required', currency, billing_interval: only, trial_days: only },
  ],
]

for (const [name, changes, fields] of broken)
  t.test(`a product with ${name} is rejected with a message for each field, when added and when changed`, async (t) => {
    isInvalid(t, () => newContent({ ...mug, ...changes }), fields)
    for (const before of [taxed, recurring]) isInvalid(t, () => changedContent(before, changes), fields)
  })

t.test('a product without an amount, or changed so that the whole is invalid, is rejected', async (t) => {
  const { total_cents: _, ...unpriced } = mug
  const total_cents = 'is required without subtotal_cents'
  isInvalid(t, () => newContent(unpriced), { total_cents })
  isInvalid(t, () => newContent({ ...unpriced, name: ' ', tax_cents: 1 }), { name: 'is required', total_cents })
  isInvalid(t, () => changedContent(taxed, { billing_interval: 'day' }), { billing_interval: only })
  const both = { billing_interval: only, trial_days: only }
  isInvalid(t, () => changedContent(recurring, { is_recurring: false }), both)
  isInvalid(t, () => changedContent(recurring, once), { trial_days: only })
  t.match(changedContent(recurring, { ...once, trial_days: null }), { ...once, trial_days: null })
  const weekly = { is_recurring: true, billing_interval: 'week' as const }
  t.match(changedContent(taxed, weekly), { ...weekly, trial_days: null })
  t.equal(newContent({ ...mug, trial_days: 0 }).trial_days, 0, '0 days are no trial')
})

t.test('product amounts that do not add up are rejected, after errors in other fields', async (t) => {
  const inconsistent = { code: 'amount_inconsistent' }
  t.throws(() => newContent({ ...mug, subtotal_cents: 1 }), inconsistent)
  t.throws(() => newContent({ ...mug, discount_cents: 1, subtotal_cents: 0 }), inconsistent)
  t.throws(() => newContent({ ...mug, total_cents: 0, tax_cents: 1 }), inconsistent)
  t.throws(() => changedContent(taxed, { subtotal_cents: 1, total_cents: 1 }), inconsistent)
  t.throws(() => changedContent(taxed, { discount_cents: 1191 }), inconsistent)
  t.throws(() => changedContent(taxed, { total_cents: 99 }), inconsistent)
  t.throws(() => changedContent(taxed, { tax_cents: maxAmountCents }), inconsistent)
  isInvalid(t, () => newContent({ ...mug, subtotal_cents: 1, name: ' ' }), { name: 'is required' })
  isInvalid(t, () => changedContent(taxed, { total_cents: 99, trial_days: 1 }), { trial_days: only })
})

t.test('a product may have a price of 0 [10.3-product-free]', async (t) => {
  t.same(amountsOf(newContent({ ...mug, total_cents: 0 })), [0, 0, 0, 0])
  t.same(ofTaxed({ discount_cents: 1190 }), [1000, 190, 1190, 0])
})

t.test('changing the subtotal or total of a product derives the other one, keeping tax and discount', async (t) => {
  t.same(ofTaxed({ total_cents: 1200 }), [1100, 190, 90, 1200])
  t.same(ofTaxed({ total_cents: 1200, tax_cents: 0 }), [1290, 0, 90, 1200])
  t.same(ofTaxed({ subtotal_cents: 2000 }), [2000, 190, 90, 2100])
  t.same(ofTaxed({ subtotal_cents: 2000, discount_cents: null }), [2000, 190, 0, 2190])
  t.same(ofTaxed({ subtotal_cents: 2000, total_cents: null }), [2000, 190, 90, 2100])
  t.same(ofTaxed({ subtotal_cents: null, total_cents: 1200 }), [1100, 190, 90, 1200])
  t.same(ofTaxed({ subtotal_cents: 5, tax_cents: 2, discount_cents: 1, total_cents: 6 }), [5, 2, 1, 6])
})

t.test('changing only tax or discount of a product keeps the subtotal, unless it is cleared', async (t) => {
  t.same(ofTaxed({ tax_cents: 200 }), [1000, 200, 90, 1110])
  t.same(ofTaxed({ tax_cents: null }), [1000, 0, 90, 910])
  t.same(ofTaxed({ discount_cents: null }), [1000, 190, 0, 1190])
  t.same(ofTaxed({ total_cents: null }), [1000, 190, 90, 1100])
  t.same(ofTaxed({ total_cents: null, tax_cents: 0 }), [1000, 0, 90, 910])
  t.same(ofTaxed({ subtotal_cents: null }), [1000, 190, 90, 1100])
  t.same(ofTaxed({ subtotal_cents: null, tax_cents: 0 }), [1190, 0, 90, 1100])
})

t.test('null clears optional product fields, and is_active is not part of the content', async (t) => {
  const before = newContent({ ...plan, description: 'x', category_id: 'y' })
  const cleared = { description: null, category_id: null, trial_days: null }
  t.strictSame(changedContent(before, { ...cleared, is_active: false }), { ...before, ...cleared })
})
