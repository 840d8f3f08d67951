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

function errorOf(act: () => unknown): DomainError | undefined {
  try {
    act()
    return undefined
  } catch (error) {
    if (error instanceof DomainError) return error
    throw error
  }
}

/** Refused as malformed for exactly these fields. */
function isInvalid(t: Test, act: () => unknown, fields: Readonly<Record<string, string>>): void {
  const refusal = errorOf(act)
  const expected = Object.entries(fields).map(([field, message]) => ({ field, message }))
  t.match(refusal, { code: 'invalid_request' })
  t.same(refusal?.details, { fields: expected }, `for ${Object.keys(fields).join()}`)
  t.equal(refusal?.message, expected.map(({ field, message }) => `${field} ${message}`).join('; '))
}

t.test('what a new product does not say is nothing, or none', async (t) => {
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

t.test('what a new product says is kept as it is, but for the case of its currency', async (t) => {
  const said = {
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
  t.strictSame(newContent({ ...said, is_active: false }), { ...said, currency: 'EUR' })
})

const recurringOnly = 'is allowed only when is_recurring'
const broken: readonly [string, ProductChanges, Readonly<Record<string, string>>][] = [
  ['a blank name', { name: ' \t\u00a0' }, { name: 'is required' }],
  ['no currency of ISO 4217', { currency: 'abc' }, { currency: 'is not an ISO 4217 currency code' }],
  ['a metal', { currency: 'XAU' }, { currency: 'is not an ISO 4217 currency code' }],
  [
    'recurring without an interval',
    { is_recurring: true, billing_interval: null },
    { billing_interval: 'is required when is_recurring' },
  ],
  ['an interval only', { is_recurring: false, billing_interval: 'day' }, { billing_interval: recurringOnly }],
  ['a trial only', { is_recurring: false, billing_interval: null, trial_days: 1 }, { trial_days: recurringOnly }],
  ['no amount', { subtotal_cents: null, total_cents: null }, { total_cents: 'is required without subtotal_cents' }],
  [
    'everything',
    { name: ' ', currency: 'abc', is_recurring: false, billing_interval: 'day', trial_days: 1 },
    {
      name: 'is required',
      currency: 'is not an ISO 4217 currency code',
      billing_interval: recurringOnly,
      trial_days: recurringOnly,
    },
  ],
]

t.test('what a product cannot be is told field by field, of a new one and of changes by themselves', async (t) => {
  for (const [name, said, fields] of broken)
    t.test(name, async (t) => {
      isInvalid(t, () => newContent({ ...mug, ...said }), fields)
      for (const before of [taxed, recurring]) isInvalid(t, () => changedContent(before, said), fields)
    })
  isInvalid(t, () => newContent({ ...mug, is_recurring: true }), { billing_interval: 'is required when is_recurring' })
  isInvalid(t, () => newContent({ ...mug, billing_interval: 'week' }), { billing_interval: recurringOnly })
  isInvalid(t, () => newContent({ ...mug, trial_days: 7 }), { trial_days: recurringOnly })
  const { total_cents: _, ...unpriced } = mug
  isInvalid(t, () => newContent(unpriced), { total_cents: 'is required without subtotal_cents' })
  isInvalid(t, () => newContent({ ...unpriced, name: ' ', tax_cents: 1 }), {
    name: 'is required',
    total_cents: 'is required without subtotal_cents',
  })
})

t.test('a product that is not recurring may say that its trial has no days', async (t) => {
  t.equal(newContent({ ...mug, trial_days: 0 }).trial_days, 0)
})

t.test('changes must leave what a product can be', async (t) => {
  isInvalid(t, () => changedContent(taxed, { is_recurring: true }), {
    billing_interval: 'is required when is_recurring',
  })
  isInvalid(t, () => changedContent(taxed, { billing_interval: 'day' }), { billing_interval: recurringOnly })
  isInvalid(t, () => changedContent(taxed, { trial_days: 1 }), { trial_days: recurringOnly })
  isInvalid(t, () => changedContent(recurring, { billing_interval: null }), {
    billing_interval: 'is required when is_recurring',
  })
  isInvalid(t, () => changedContent(recurring, { is_recurring: false }), {
    billing_interval: recurringOnly,
    trial_days: recurringOnly,
  })
  isInvalid(t, () => changedContent(recurring, { is_recurring: false, billing_interval: null }), {
    trial_days: recurringOnly,
  })
  const cleared = { is_recurring: false, billing_interval: null, trial_days: null }
  t.match(changedContent(recurring, cleared), cleared)
  const begun = { is_recurring: true, billing_interval: 'week' as const }
  t.match(changedContent(taxed, begun), { ...begun, trial_days: null })
})

t.test('parts that do not add up are refused, after what is wrong with the rest', async (t) => {
  const inconsistent = { code: 'amount_inconsistent' }
  t.throws(() => newContent({ ...mug, subtotal_cents: 1 }), inconsistent)
  t.throws(() => newContent({ ...mug, discount_cents: 1, subtotal_cents: 0 }), inconsistent)
  t.throws(() => newContent({ ...mug, total_cents: 0, tax_cents: 1 }), inconsistent)
  t.throws(() => changedContent(taxed, { subtotal_cents: 1, total_cents: 1 }), inconsistent)
  t.throws(() => changedContent(taxed, { discount_cents: 1191 }), inconsistent)
  t.throws(() => changedContent(taxed, { total_cents: 99 }), inconsistent)
  t.throws(() => changedContent(taxed, { tax_cents: maxAmountCents }), inconsistent)
  isInvalid(t, () => newContent({ ...mug, subtotal_cents: 1, name: ' ' }), { name: 'is required' })
  isInvalid(t, () => changedContent(taxed, { total_cents: 99, trial_days: 1 }), { trial_days: recurringOnly })
})

t.test('a product may cost nothing [10.3-product-free]', async (t) => {
  t.same(amountsOf(newContent({ ...mug, total_cents: 0 })), [0, 0, 0, 0])
  t.same(ofTaxed({ discount_cents: 1190 }), [1000, 190, 1190, 0])
})

t.test(
  'of subtotal and total the one that is given makes the other, with tax and discount as they then are',
  async (t) => {
    t.same(ofTaxed({ total_cents: 1200 }), [1100, 190, 90, 1200])
    t.same(ofTaxed({ total_cents: 1200, tax_cents: 0 }), [1290, 0, 90, 1200])
    t.same(ofTaxed({ subtotal_cents: 2000 }), [2000, 190, 90, 2100])
    t.same(ofTaxed({ subtotal_cents: 2000, discount_cents: null }), [2000, 190, 0, 2190])
    t.same(ofTaxed({ subtotal_cents: 2000, total_cents: null }), [2000, 190, 90, 2100])
    t.same(ofTaxed({ subtotal_cents: null, total_cents: 1200 }), [1100, 190, 90, 1200])
    t.same(ofTaxed({ subtotal_cents: 5, tax_cents: 2, discount_cents: 1, total_cents: 6 }), [5, 2, 1, 6])
  },
)

t.test('when neither is given the subtotal stays, unless it is cleared', async (t) => {
  t.same(ofTaxed({ tax_cents: 200 }), [1000, 200, 90, 1110])
  t.same(ofTaxed({ tax_cents: null }), [1000, 0, 90, 910])
  t.same(ofTaxed({ discount_cents: null }), [1000, 190, 0, 1190])
  t.same(ofTaxed({ total_cents: null }), [1000, 190, 90, 1100])
  t.same(ofTaxed({ total_cents: null, tax_cents: 0 }), [1000, 0, 90, 910])
  t.same(ofTaxed({ subtotal_cents: null }), [1000, 190, 90, 1100])
  t.same(ofTaxed({ subtotal_cents: null, tax_cents: 0 }), [1190, 0, 90, 1100])
})

t.test('null clears what may be empty, and is_active is no content', async (t) => {
  const before = newContent({ ...plan, description: 'x', category_id: 'y' })
  const cleared = { description: null, category_id: null, trial_days: null }
  t.strictSame(changedContent(before, { ...cleared, is_active: false }), { ...before, ...cleared })
})
